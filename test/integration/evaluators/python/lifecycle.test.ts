import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { SlotHolder } from '../../../../evaluators/python/mod.ts';
import { DEFAULT_LIMITS } from '../../../../evaluators/python/mod.ts';
import {
  cpuLimitOf,
  descendantsOf,
  eventually,
  isRunning,
  type Process,
} from '../../../support/processes.ts';
import { brief, define, openSandbox, TIERS_HERE } from './support/sandbox.ts';

const HOLD = fileURLToPath(new URL('./support/hold.ts', import.meta.url));
/** Evaluations for each tier; an environment variable sets more. */
const EVALUATIONS = Number(process.env.ASSAY_EVALUATIONS ?? 400);
/** For evaluations that must not fail on a busy machine. Other limits of CPU would need children that do not wait idle. */
const AMPLE = { ...DEFAULT_LIMITS, wallMs: 60_000 };
const texts = { input: 'input', output: 'output' };
const own = () => descendantsOf(process.pid);

/** Kills a zygote that has children, if there is one: in `namespaces` alternately the process outside and the one inside. */
function killZygote(turn: number): boolean {
  const family = own();
  const forebears = family.filter(({ pid }) => family.some(({ parent }) => parent === pid));
  const victim = forebears[turn % Math.max(1, forebears.length)];
  if (victim !== undefined) process.kill(victim.pid, 'SIGKILL');
  return victim !== undefined;
}

/** Runs `count` jobs, several at a time. */
async function inParallel<T>(
  width: number,
  count: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const loop = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, loop));
  return results;
}

for (const wantedTier of TIERS_HERE) {
  t.test(`${EVALUATIONS} evaluations leave no process, tier ${wantedTier}`, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier, concurrency: 4, forksPerZygote: 150 });
    t.equal(statSync(join(sandbox.directory, readdirSync(sandbox.directory)[0]!)).mode & 0o777, 0o700);
    const ends = ['return 0.5', 'import os; os._exit(1)', 'import os; os.abort()', 'raise ValueError'];
    let most = 0;
    const counts = setInterval(() => {
      most = Math.max(most, own().length);
    }, 50);
    const results = await inParallel(8, EVALUATIONS, (index) =>
      sandbox.evaluate({ code: define(ends[index % ends.length]!), ...texts, limits: AMPLE }),
    );
    clearInterval(counts);
    const expected = [0.5, 'py_no_result', 'py_crash', 'py_exception'];
    const unexpected = results.filter(
      ({ outcome }, index) => brief(outcome) !== expected[index % ends.length],
    );
    t.same(unexpected, [], 'each ended as it should, also while the zygote was replaced');
    t.equal(sandbox.state().deaths, 0, 'being replaced is no death');
    // Idle ones twice, running ones, ending ones, and two zygotes of two processes each.
    t.ok(most <= 2 * 8 + 4 * 4 + 4, `${most} processes at once`);
    t.ok(await eventually(() => own().length <= 2 * 4 + 2), 'idle children and the zygote are left');
    await sandbox.stop();
    t.same(own(), []);
    t.same(readdirSync(sandbox.directory), []);
  });

  t.test(`stopping the sandbox ends running evaluations, tier ${wantedTier}`, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier });
    const limits = { ...DEFAULT_LIMITS, wallMs: 10_000 };
    const running = ['import time; time.sleep(60)', 'while True: pass', 'return 1'].map((body) =>
      sandbox.evaluate({ code: define(body), ...texts, limits }),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const startedAt = performance.now();
    await sandbox.stop();
    t.ok(performance.now() - startedAt < 8_000, 'long before their own time is over');
    t.same(own(), []);
    for (const { outcome } of await Promise.all(running)) {
      t.match(outcome, { state: 'failed', retry: 'later', code: /^sandbox_/ });
    }
    const after = await sandbox.evaluate({ code: define('return 1'), ...texts });
    t.match(after.outcome, { code: 'sandbox_unavailable', retry: 'later' });
  });

  t.test(`kill -9 of the service ends all of its processes, tier ${wantedTier}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'assay-test-python-'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    const service = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', HOLD, wantedTier, directory],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [said] = (await once(service.stdout, 'data')) as [Buffer];
    t.equal(said.toString().trim(), wantedTier);
    let family: Process[] = [];
    const isBusy = () => {
      family = descendantsOf(service.pid!);
      return family.length >= 4 && family.some((process) => process.cpuTicks >= 10);
    };
    t.ok(await eventually(isBusy), `${family.length} processes`);
    service.kill('SIGKILL');
    await once(service, 'exit');
    t.ok(await eventually(() => !family.some(isRunning)), 'none of them runs any more');
    t.equal(readdirSync(directory).length, 1, 'its directory is left');
    const sandbox = await openSandbox(t, { directory, wantedTier });
    t.equal(readdirSync(directory).length, 1, 'the next one has removed it');
    await sandbox.stop();
  });

  t.test(
    `a sandbox without jobs keeps no process, and the next jobs start it, tier ${wantedTier}`,
    async (t) => {
      const sandbox = await openSandbox(t, { wantedTier, concurrency: 2, restAfterMs: 300 });
      const score = () => sandbox.evaluate({ code: define('return 0.5'), ...texts, limits: AMPLE });
      for (let round = 0; round < 2; round += 1) {
        t.ok(await eventually(() => own().length === 0), 'no process is left');
        const results = await Promise.all([score(), score(), score(), score()]);
        t.same(
          results.map(({ outcome }) => brief(outcome)),
          [0.5, 0.5, 0.5, 0.5],
        );
      }
      t.equal(sandbox.state().deaths, 0, 'a rest is no death');
      const slow = sandbox.evaluate({
        code: define('import time; time.sleep(1); return 0.25'),
        ...texts,
        limits: AMPLE,
      });
      t.equal(
        brief((await slow).outcome),
        0.25,
        'a job that takes longer than the pool waits is not cut off',
      );
      const limits = { ...AMPLE, cpuSeconds: 7 };
      t.ok(await eventually(() => own().length === 0));
      const withLimits = await sandbox.evaluate({ code: define('return 0.75'), ...texts, limits });
      t.equal(brief(withLimits.outcome), 0.75, 'limits of its own start it, too');
    },
  );

  t.test(
    `a job that waits for a child keeps the sandbox from resting, whatever its limits, tier ${wantedTier}`,
    async (t) => {
      // Less than a zygote takes to start: a rest is due whenever one has.
      const sandbox = await openSandbox(t, { wantedTier, concurrency: 2, restAfterMs: 1 });
      for (const limits of [AMPLE, { ...AMPLE, cpuSeconds: 7 }]) {
        const { outcome } = await sandbox.evaluate({ code: define('return 0.5'), ...texts, limits });
        t.equal(brief(outcome), 0.5, `with ${limits.cpuSeconds} s of CPU`);
      }
    },
  );

  t.test(`kill -9 of the zygote ends its children, tier ${wantedTier}`, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier });
    const limits = { ...DEFAULT_LIMITS, cpuSeconds: 9, wallMs: 9_000 };
    const evaluated = sandbox.evaluate({ code: define('while True: pass'), ...texts, limits });
    // Longer than a child needs to lock itself down: a child that is not ready has no job, and another replaces it.
    const computes = (process: Process) =>
      cpuLimitOf(process) === limits.cpuSeconds && process.cpuTicks >= 10;
    t.ok(await eventually(() => own().some(computes)));
    const family = own();
    killZygote(0);
    t.match((await evaluated).outcome, { code: 'sandbox_crashed', retry: 'later' });
    t.ok(await eventually(() => !family.some(isRunning)), 'what computes, what waits, and who forked them');
    const after = await sandbox.evaluate({ code: define('return 0.5'), ...texts });
    t.equal(brief(after.outcome), 0.5, 'another has taken its place');
  });

  t.test(
    `every evaluation under load ends in an outcome when the zygote is killed, tier ${wantedTier}`,
    async (t) => {
      const sandbox = await openSandbox(t, { wantedTier, concurrency: 4 });
      const code = define('import time; time.sleep(0.02); return int(input)');
      let crashes = 0;
      let completed = 0;
      let kills = 0;
      const scores = await inParallel(8, 120, async (index) => {
        for (let attempt = 0; attempt < 50; attempt += 1) {
          const { outcome } = await sandbox.evaluate({
            code,
            input: String(index),
            output: '',
            limits: AMPLE,
          });
          if (outcome.state === 'completed') {
            completed += 1;
            // By now three other evaluations run.
            if (completed % 20 === 0 && killZygote(kills)) kills += 1;
            return outcome.score;
          }
          t.match(outcome, { code: 'sandbox_crashed', retry: 'later' });
          crashes += 1;
        }
        return Number.NaN;
      });
      t.same(
        scores,
        Array.from({ length: 120 }, (_, index) => index),
        'each has its own score, tried again',
      );
      t.ok(crashes > 0, `${crashes} evaluations were told that they had crashed`);
      const { deaths } = sandbox.state();
      t.ok(deaths > 0 && deaths <= kills, `${deaths} zygotes died of ${kills} that were killed`);
      await sandbox.stop();
      t.same(own(), []);
    },
  );
}

t.test('slow evaluations use no more than their slots, and others wait in order', async (t) => {
  const sandbox = await openSandbox(t, { concurrency: 2 });
  const sleeping = define('import time; time.sleep(0.2); return 1');
  const runs = Array.from({ length: 6 }, () => sandbox.evaluate({ code: sleeping, ...texts }));
  t.match(sandbox.state(), { running: 2, waiting: 4 });
  await Promise.all(runs);
  t.match(sandbox.state(), { running: 0, waiting: 0 });
});

t.test(
  'an organization that fills all slots delays neither the evaluations nor the trials of another',
  async (t) => {
    const sandbox = await openSandbox(t, { concurrency: 2 });
    // Longer than the rest takes: an evaluation that waited for one of these would come after its end.
    const sleeping = define('import time; time.sleep(120)');
    const limits = { ...DEFAULT_LIMITS, wallMs: 180_000 };
    const greedy = (['evaluations', 'trials'] as const).flatMap((share) =>
      Array.from({ length: 30 }, () =>
        sandbox.evaluate({ code: sleeping, limits, ...texts }, { organizationId: 'greedy', share }),
      ),
    );
    let hasGreedyEnded = false;
    void Promise.race(greedy).then(() => {
      hasGreedyEnded = true;
    });
    const modest = (share: SlotHolder['share']) => ({ organizationId: 'modest', share });
    const code = define('return 1');
    for (let round = 0; round < 10; round += 1) {
      t.match(await sandbox.evaluate({ code, ...texts }, modest('evaluations')), { outcome: { score: 1 } });
      t.match(await sandbox.evaluate({ code, ...texts }, modest('trials')), { outcome: { score: 1 } });
      t.match(await sandbox.compile(code, modest('trials')), { ok: true });
    }
    t.notOk(hasGreedyEnded, 'all of them ended before the first of the other organization');
    t.equal(sandbox.state().running, 3, 'which keeps its slots: two for evaluations, one for trials');
    await sandbox.stop();
    await Promise.all(greedy);
  },
);

t.test(
  'evaluations beyond the bound of waiting ones fail with sandbox_unavailable, to be tried later',
  async (t) => {
    const sandbox = await openSandbox(t, { concurrency: 1 });
    const runs = Array.from({ length: 510 }, () =>
      sandbox.evaluate({ code: define('import time; time.sleep(9)'), ...texts }),
    );
    const refused = await Promise.all(runs.slice(501));
    for (const { outcome } of refused) t.match(outcome, { code: 'sandbox_unavailable', retry: 'later' });
    await sandbox.stop();
    await Promise.all(runs);
  },
);

t.test('evaluators whose data directory is still missing run Python', async (t) => {
  const directory = join(t.testdir(), 'not', 'yet');
  const sandbox = await openSandbox(t, { directory });
  t.equal(brief((await sandbox.evaluate({ code: define('return 0.5'), ...texts })).outcome), 0.5);
  t.equal(statSync(directory).mode & 0o777, 0o711);
});
