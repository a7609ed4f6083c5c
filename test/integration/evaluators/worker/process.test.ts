/** The evaluators role as a process: notified of work, terminated, killed. */
import t, { type Test } from 'tap';
import { LEASE_MS } from '../../../../evaluators/queue/mod.ts';
import { runMain, waitFor } from '../../../support/assay.ts';
import { startWorld, type World } from '../../../support/evaluation-queue.ts';
import { leastOf } from '../../../support/least-of.ts';
import { scriptedProvider, temporaryDirectory } from '../../../support/world.ts';

/** Starts an evaluators process whose gateway never responds. */
async function startProcess(t: Test, world: World) {
  const gateway = await scriptedProvider(t);
  gateway.script(() => ({ kind: 'hang' }));
  const run = runMain(['evaluators'], {
    DATABASE_URL: world.url,
    DATA_DIR: temporaryDirectory(t),
    GATEWAY_URL: gateway.url.replace('/v1', ''),
    SHUTDOWN_TIMEOUT_MS: '1500',
  });
  t.teardown(async () => {
    run.process.kill('SIGKILL');
    await run.ended;
  });
  await waitFor('the process to serve', () => run.stderr().includes('evaluators serve'));
  return { run, gateway };
}

/** Schedules evaluations that never end by themselves: three judges, and Python that runs longer than the test. */
async function scheduleEndless(world: World): Promise<string[]> {
  const organizationId = await world.organization();
  const judge = await world.evaluator(organizationId, {
    scoringType: 'LLM-BOOLEAN',
    llmTemplate: { model: 'gpt-4o', prompt: 'Polite?' },
  });
  const python = await world.evaluator(organizationId, {
    code: 'import time\ndef evaluate(input, output):\n  time.sleep(60)\n  return 1',
    limits: { wallMs: 90_000 },
  });
  const requestIds = await world.requests(organizationId, 3);
  return [
    ...(await world.schedule(judge, requestIds)),
    ...(await world.schedule(python, requestIds.slice(0, 1))),
  ];
}

const areHeld = async (world: World, ids: readonly string[]): Promise<boolean> => {
  const rows = await Promise.all(ids.map((id) => world.row(id)));
  return rows.every((row) => row.state === 'running');
};

t.test('a scheduled evaluation is scored at once', async (t) => {
  const world = await startWorld(t);
  await startProcess(t, world);
  const evaluator = await world.evaluator(await world.organization());
  const requestIds = await world.requests(evaluator.organizationId, 13);
  let scored = 0;
  const score = async () => {
    const start = performance.now();
    const [id] = await world.schedule(evaluator, [requestIds[scored]!]);
    await world.sql`select pg_notify('assay_evaluations', '')`;
    await waitFor('the evaluation to be completed', async () => (await world.row(id!)).state === 'completed');
    scored += 1;
    return performance.now() - start;
  };
  // The first evaluation loads what the others reuse.
  await score();
  const leastMs = await leastOf(12, score, 250);
  // Each begins right after the process has looked: not notified, it would take nearly a second.
  t.ok(leastMs < 250, `after ${Math.round(leastMs)} ms`);
  t.equal((await world.scores()).length, scored);
});

t.test(
  'a process that receives SIGTERM releases the evaluations that it cannot finish, without counting an attempt',
  async (t) => {
    const world = await startWorld(t);
    const { run, gateway } = await startProcess(t, world);
    const ids = await scheduleEndless(world);
    await world.sql`select pg_notify('assay_evaluations', '')`;
    await waitFor(
      'all evaluations to be under way',
      async () => gateway.requests.length === 3 && (await areHeld(world, ids)),
    );
    const start = performance.now();
    run.process.kill('SIGTERM');
    t.match(await run.ended, { code: 0 });
    t.ok(performance.now() - start < 30_000, 'long before Python would have ended');
    for (const id of ids) {
      t.match(await world.row(id), {
        state: 'pending',
        attempts: 0,
        error_code: null,
        finished_at: null,
        score: null,
      });
    }
    t.equal((await world.claimSoon('remote')).length, 3, 'the evaluations can be claimed at once');
    t.equal((await world.claimSoon('python')).length, 1);
  },
);

t.test(
  'evaluations held by a killed process are claimed by another once their leases expire, and not before',
  async (t) => {
    const world = await startWorld(t);
    const { run, gateway } = await startProcess(t, world);
    const ids = await scheduleEndless(world);
    await world.sql`select pg_notify('assay_evaluations', '')`;
    await waitFor(
      'all evaluations to be under way',
      async () => gateway.requests.length === 3 && (await areHeld(world, ids)),
    );
    run.process.kill('SIGKILL');
    await run.ended;
    t.same(await world.claimAll('remote'), []);
    await world.sql`update assay.evaluations set due_at = due_at - ${LEASE_MS} * interval '1 ms'`;
    t.match(
      (await world.claimSoon('remote')).map((job) => job.attempt),
      [2, 2, 2],
    );
    t.equal((await world.claimSoon('python')).length, 1);
  },
);
