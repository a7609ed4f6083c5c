/** Trials from the API to an evaluators process and back, through a real database and the real sandbox. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type TestTrial, TRIAL_EVALUATOR_ID } from '#core/contracts/trial.ts';
import { parseExactJson } from '#core/json/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { createListener, type Listener } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { createTrials } from '../../../../api/evaluators/mod.ts';
import type { TrialsOptions } from '../../../../api/evaluators/trials.ts';
import { type Sandbox, startSandbox } from '../../../../evaluators/python/mod.ts';
import { createScorer } from '../../../../evaluators/worker/mod.ts';
import type { Scorer } from '../../../../evaluators/worker/scorer.ts';
import { serveTrials } from '../../../../evaluators/worker/trials.ts';
import { runMain, waitFor } from '../../../support/assay.ts';
import { startWorld, type World } from '../../../support/evaluation-queue.ts';
import { leastOf } from '../../../support/least-of.ts';
import { connectAsApi } from '../../../support/postgres.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const secrets = createSecretBox([Buffer.alloc(32, 1)]);
/** Concurrent trials of one organization, and of one process. */
const AT_A_TIME = 8;

const CODE = 'def evaluate(input, output):\n  print(input)\n  return len(output)';
const UNAVAILABLE = { code: 'evaluators_unavailable' };

const python = (code: string): TestTrial => ({
  kind: 'test',
  evaluatorName: 'Tried',
  scoringType: 'PYTHON',
  codeTemplate: { code },
  testInput: {
    requestText: '{"messages":[{"role":"user","content":"the question"}]}',
    responseText: '{"choices":[{"message":{"role":"assistant","content":"answer"}}]}',
    inputs: {},
  },
});

const directory = mkdtempSync(join(tmpdir(), 'assay-trials-'));
const startOwnSandbox = () => startSandbox({ directory, concurrency: 4, log, clock: systemClock });
const scorerWith = (sandbox: Sandbox): Scorer =>
  createScorer({
    thread: {
      gatewayUrl: 'http://127.0.0.1:9',
      internalSecret: 'unused',
      outboundAllow: [],
      judgeTimeouts: { connectMs: 500, firstByteMs: 500, totalMs: 500 },
    },
    sandbox,
    concurrency: 4,
    onDefect: (error) => t.fail(String(error)),
  });
let sandbox: Sandbox;
let scorer: Scorer;
t.before(async () => {
  sandbox = await startOwnSandbox();
  scorer = scorerWith(sandbox);
});
t.teardown(async () => {
  await scorer.close();
  await sandbox.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Serves trials for as long as the test runs. */
function serve(t: Test, world: World, given: Partial<Parameters<typeof serveTrials>[0]> = {}) {
  const sql = world.connect(4);
  const served = serveTrials({
    sql,
    listener: createListener({ sql, log }),
    log,
    clock: systemClock,
    scorer,
    sandbox,
    secrets,
    ...given,
  });
  t.teardown(() => served.stop());
  return served;
}

/** Creates the API's side, with the API's database role. */
function ask(t: Test, world: World, patience: TrialsOptions['patience'] = {}) {
  const sql = connectAsApi(world.url, { max: 10 });
  const trials = createTrials({ sql, listener: createListener({ sql, log }), clock: systemClock, patience });
  t.teardown(async () => {
    await trials.stop();
    await sql.end();
  });
  return trials.run;
}

const rowsLeft = async ({ sql }: World) => (await sql`select from assay.evaluator_trials`).length;

t.test('a trial compiles and tries out code, and returns the result', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  serve(t, world);
  const run = ask(t, world);
  t.same(await run({ organizationId, body: { kind: 'compile', code: CODE } }), { kind: 'compile', ok: true });
  t.match(
    await run({ organizationId, body: { kind: 'compile', code: 'def evaluate(input, output)\n  return 1' } }),
    {
      kind: 'compile',
      ok: false,
      code: 'py_syntax_error',
      message: /expected ':'/,
      line: 1,
    },
  );
  t.match(await run({ organizationId, body: python(CODE) }), {
    kind: 'test',
    outcome: { state: 'completed', score: 'answer'.length },
    traces: 'the question\n',
    use: null,
  });
  t.match(await run({ organizationId, body: python('def evaluate(i, o):\n  print("seen")\n  return 1/0') }), {
    outcome: { state: 'failed', code: 'py_exception' },
    traces: 'seen\n',
  });
  t.equal(await rowsLeft(world), 0);
});

t.test('code with a third parameter gets the bodies and the prompt variables of the record', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  serve(t, world);
  const run = ask(t, world);
  const body = python(`def evaluate(input, output, record):
  request, response = record["request"], record["response"]
  print(request["messages"][0]["role"], response["choices"][0]["message"]["role"], record["inputs"])
  return 1`);
  body.testInput.inputs = { audience: 'children' };
  t.match(await run({ organizationId, body }), {
    outcome: { state: 'completed', score: 1 },
    traces: "user assistant {'audience': 'children'}\n",
  });
  // An object parsed as `JSON.parse` does would have another number.
  body.testInput.inputs = parseExactJson('{"order":12345678901234567890}') as Record<string, unknown>;
  t.match(await run({ organizationId, body }), {
    traces: "user assistant {'order': 12345678901234567890}\n",
  });
});

t.test('code with categories returns a label, whose score is that of the category', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  serve(t, world);
  const run = ask(t, world);
  const labelled = (label: string): TestTrial => ({
    ...python(''),
    scoringType: 'PYTHON',
    codeTemplate: {
      code: `def evaluate(input, output): return {"label": "${label}", "reasoning": "Why not."}`,
      categories: [
        { label: 'bad', score: -1 },
        { label: 'good', score: 2 },
      ],
    },
  });
  t.match(await run({ organizationId, body: labelled('good') }), {
    outcome: { state: 'completed', score: 2, label: 'good', reasoning: 'Why not.' },
  });
  t.match(await run({ organizationId, body: labelled('best') }), {
    outcome: { state: 'failed', code: 'py_unknown_label' },
  });
});

t.test('a trial takes no longer than its evaluation', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  serve(t, world);
  const run = ask(t, world);
  await run({ organizationId, body: python(CODE) });
  const leastMs = await leastOf(
    12,
    async () => {
      // After a trial the process looks for another by itself, which must be over: so no trial is found by that look.
      await sleep(200);
      const start = performance.now();
      await run({ organizationId, body: python(CODE) });
      return performance.now() - start;
    },
    250,
  );
  t.ok(leastMs < 250, `each side is told, and need not look, once a second: ${Math.round(leastMs)} ms`);
});

t.test('the input and the result of a trial are bounded in size', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  serve(t, world);
  const run = ask(t, world);
  const large = `${CODE}\n# ${'x'.repeat(1_000_000)}`;
  t.match(await run({ organizationId, body: { kind: 'compile', code: large } }), {
    ok: false,
    code: 'source_too_large',
  });
  t.match(await run({ organizationId, body: python(large) }), {
    outcome: { state: 'failed', code: 'source_too_large' },
  });
  const printed = await run({
    organizationId,
    body: python('def evaluate(input, output):\n  print("x" * 1000000)\n  return 1'),
  });
  t.match(printed, { outcome: { state: 'completed', score: 1 } });
  t.ok(printed.traces!.length <= 16 * 1024 && printed.traces!.length > 1_000);
});

t.test('a process runs at most eight trials at a time, and the others after them', async (t) => {
  const world = await startWorld(t);
  const organizations = [await world.organization(), await world.organization(), await world.organization()];
  serve(t, world);
  const run = ask(t, world, { takenMs: 20_000 });
  const body = python('import time\ndef evaluate(input, output):\n  time.sleep(0.2)\n  return 1');
  let most = 0;
  let isWatching = true;
  const watching = (async () => {
    while (isWatching) {
      const rows = await world.sql`
        select from assay.evaluator_trials where taken_at is not null and result is null`;
      most = Math.max(most, rows.length);
    }
  })();
  const results = await Promise.all(
    organizations.flatMap((organizationId) =>
      Array.from({ length: AT_A_TIME }, () => run({ organizationId, body })),
    ),
  );
  isWatching = false;
  await watching;
  t.ok(results.every((result) => result.outcome.state === 'completed'));
  // Beyond eight, only the first trial of an organization.
  t.ok(most <= AT_A_TIME + organizations.length - 1 && most > 1, `${most} at a time`);
});

/** Longer than the trials of another organization take: one that waited for it would come after its end. */
const SLEEPING = 'import time\ndef evaluate(input, output):\n  time.sleep(60)\n  return 1';

t.test('trials of an organization that fills the process delay no trial of another', async (t) => {
  const world = await startWorld(t);
  const [greedy, modest] = [await world.organization(), await world.organization()];
  const ownSandbox = await startOwnSandbox();
  const ownScorer = scorerWith(ownSandbox);
  serve(t, world, { sandbox: ownSandbox, scorer: ownScorer });
  const run = ask(t, world, { takenMs: 20_000, localMs: 90_000 });
  const limits = { wallMs: 90_000, cpuSeconds: 1, memoryMb: 256 };
  const slow = { ...python(CODE), codeTemplate: { code: SLEEPING, limits } } as TestTrial;
  let hasGreedyEnded = false;
  const filling = Array.from({ length: AT_A_TIME }, () =>
    run({ organizationId: greedy, body: slow }).finally(() => {
      hasGreedyEnded = true;
    }),
  );
  await waitFor('all trials to be claimed', async () => {
    const rows = await world.sql`select from assay.evaluator_trials where taken_at is not null`;
    return rows.length === AT_A_TIME;
  });
  for (let round = 0; round < 3; round += 1) {
    t.match(await run({ organizationId: modest, body: { kind: 'compile', code: CODE } }), { ok: true });
    t.match(await run({ organizationId: modest, body: python(CODE) }), { outcome: { score: 6 } });
  }
  t.notOk(hasGreedyEnded, 'the other organization has its result before the busy one has all of its results');
  await ownSandbox.stop();
  await Promise.all(filling);
  await ownScorer.close();
});

t.test('a trial is run by exactly one of several processes', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const done: string[] = [];
  const counting: Scorer = {
    score: (job) => {
      done.push(...job.items.map((item) => item.evaluationId));
      return scorer.score(job);
    },
    close: async () => {},
  };
  for (let index = 0; index < 3; index += 1) serve(t, world, { scorer: counting });
  const run = ask(t, world);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: AT_A_TIME }, () => run({ organizationId, body: python(CODE) })));
  }
  t.equal(done.length, 4 * AT_A_TIME);
  t.equal(new Set(done).size, done.length);
});

t.test('a trial fails soon when no evaluators process runs', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const run = ask(t, world, { takenMs: 300 });
  const start = performance.now();
  await t.rejects(run({ organizationId, body: python(CODE) }), UNAVAILABLE);
  t.ok(performance.now() - start < 30_000, 'long before a minute is over');
  t.equal(await rowsLeft(world), 0);
  serve(t, world);
  t.match(
    await run({ organizationId, body: python(CODE) }),
    { outcome: { score: 6 } },
    'trials succeed once a process runs',
  );
});

t.test('a trial fails in time when its process dies, and the next trial succeeds', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-trials-data-'));
  const dying = runMain(['evaluators'], { DATABASE_URL: world.url, DATA_DIR: dataDir });
  t.teardown(async () => {
    dying.process.kill('SIGKILL');
    await dying.ended;
    rmSync(dataDir, { recursive: true, force: true });
  });
  const run = ask(t, world, { takenMs: 30_000, localMs: 30_000 });
  await run({ organizationId, body: { kind: 'compile', code: CODE } });
  const impatient = ask(t, world, { localMs: 2_000 });
  const failing = impatient({
    organizationId,
    body: python('import time\ndef evaluate(input, output):\n  time.sleep(4)\n  return 1'),
  }).catch((error: unknown) => error);
  await waitFor('the trial to be claimed', async () => {
    const rows = await world.sql`select from assay.evaluator_trials where taken_at is not null`;
    return rows.length === 1;
  });
  dying.process.kill('SIGKILL');
  await dying.ended;
  serve(t, world);
  t.match(await failing, UNAVAILABLE);
  t.equal(await rowsLeft(world), 0);
  t.match(await run({ organizationId, body: python(CODE) }), { outcome: { score: 6 } });
});

t.test('a stopping process finishes the trials under way', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const served = serve(t, world);
  const run = ask(t, world);
  const answer = run({
    organizationId,
    body: python('import time\ndef evaluate(input, output):\n  time.sleep(0.5)\n  return 1'),
  });
  await waitFor('the trial to be claimed', async () => {
    const rows = await world.sql`select from assay.evaluator_trials where taken_at is not null`;
    return rows.length === 1;
  });
  await served.stop();
  t.match(await answer, { outcome: { state: 'completed', score: 1 } });
});

t.test('a trial without a notification is found by polling, and an old trial is deleted', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  // As through a pooler that drops notifications.
  const listener: Listener = { ...createListener({ sql: world.connect(1), log }), isHearing: () => false };
  serve(t, world, { listener });
  const [row] = await world.sql<{ trial_id: string }[]>`
    insert into assay.evaluator_trials (organization_id, body)
    values (${organizationId}, ${world.sql.json({ kind: 'compile', code: CODE })}) returning trial_id`;
  await waitFor('the result of the trial', async () => {
    const [trial] =
      await world.sql`select result from assay.evaluator_trials where trial_id = ${row!.trial_id}`;
    return trial!.result !== null;
  });
  await world.sql`update assay.evaluator_trials set created_at = now() - interval '11 minutes'`;
  await waitFor('the old trial to be deleted', async () => (await rowsLeft(world)) === 0);
});

t.test('without a sandbox Python is not run, and other evaluators are', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const none = await startSandbox({ directory, concurrency: 1, log, clock: systemClock, wantedTier: 'none' });
  t.teardown(() => none.stop());
  serve(t, world, { sandbox: none });
  const run = ask(t, world);
  const refusal = { ...UNAVAILABLE, message: /^Python cannot be run safely here: / };
  await t.rejects(run({ organizationId, body: { kind: 'compile', code: CODE } }), refusal);
  await t.rejects(run({ organizationId, body: python(CODE) }), refusal);
  const { testInput, evaluatorName } = python(CODE);
  const judged = await run({
    organizationId,
    body: {
      kind: 'test',
      evaluatorName,
      testInput,
      scoringType: 'LLM-BOOLEAN',
      llmTemplate: { model: 'gpt-4o', prompt: 'Polite?' },
    },
  });
  t.match(judged, { outcome: { state: 'failed', code: 'judge_unavailable' }, prompt: /Polite\?/ });
});

t.test('a trial whose secrets cannot be decrypted fails with a message that says so', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  serve(t, world);
  const owner = { organizationId, evaluatorId: TRIAL_EVALUATOR_ID };
  const sealed = createSecretBox([Buffer.alloc(32, 2)]).seal({ token: 'very-secret' }, owner);
  const { testInput, evaluatorName } = python(CODE);
  const trial = ask(
    t,
    world,
  )({
    organizationId,
    body: {
      kind: 'test',
      evaluatorName,
      testInput,
      scoringType: 'EXTERNAL',
      externalConfig: { adapter: 'http', url: 'https://example.com' },
      sealedSecrets: Buffer.from(sealed).toString('base64'),
    },
  });
  await t.rejects(trial, { ...UNAVAILABLE, message: /SECRET_KEY/ });
});
