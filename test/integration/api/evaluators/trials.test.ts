import t from 'tap';
import type { TestTrial, TrialBody } from '#core/contracts/trial.ts';
import { createListener } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createTrials } from '../../../../api/evaluators/mod.ts';
import type { TrialsOptions } from '../../../../api/evaluators/trials.ts';
import { waitFor } from '../../../support/assay.ts';
import {
  BOOLEAN,
  CODE,
  type EvaluatorApi,
  EXTERNAL,
  PYTHON,
  secretBox,
  startEvaluatorApi,
  tested,
  usualAnswer,
} from '../../../support/evaluators-process.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { silentLog } from '../../../support/world.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});
t.beforeEach(() => {
  api.process.answer = usualAnswer;
  api.process.tells = true;
  api.process.bodies = [];
});

const testInput = {
  inputBody: { messages: [{ role: 'user', content: 'Hi' }] },
  outputBody: '{"choices":[{"message":{"content":"Hello"}}]}',
};
const llmTest = (template: object = BOOLEAN.llm_template, type = 'LLM-BOOLEAN') => ({
  evaluatorConfig: { evaluator_scoring_type: type, evaluator_llm_template: template },
  testInput,
  evaluatorName: 'Polite',
});
const rowsLeft = async () => (await api.database.sql`select 1 from assay.evaluator_trials`).length;

t.test('Python code is compiled by an evaluators process, never by the API', async (t) => {
  await api.make('/v1/evaluator', { name: 'Compiled', ...PYTHON });
  t.strictSame(api.process.bodies, [{ kind: 'compile', code: CODE }]);
  t.equal(await rowsLeft(), 0, 'and the trial is gone');
});

t.test('a Python error is reported with its line and column, as far as they are known', async (t) => {
  const refusal = async (place: { line: number | null; column: number | null }) => {
    api.process.answer = () => ({
      kind: 'compile',
      ok: false,
      code: 'py_no_function',
      message: 'the code defines no function evaluate',
      ...place,
    });
    return (await api.call('/v1/evaluator', { body: { name: 'Refused', ...PYTHON } })).body.error;
  };
  const sentence = 'code_template.code cannot be used: the code defines no function evaluate';
  t.equal(await refusal({ line: null, column: null }), sentence);
  t.equal(await refusal({ line: 3, column: null }), `${sentence} (line 3)`);
  t.equal(await refusal({ line: 3, column: 9 }), `${sentence} (line 3, column 9)`);
});

t.test('an LLM trial returns the score, the cost, the prompt, the raw answer and the verdict', async (t) => {
  api.process.answer = () =>
    tested(
      {
        state: 'completed',
        score: 0.5,
        label: null,
        reasoning: 'It is.',
        traces: null,
        flags: ['parse_fallback'],
      },
      {
        use: {
          calls: 1,
          requestIds: ['r'],
          model: 'gpt-4o-mini',
          promptTokens: 12,
          completionTokens: 3,
          costNano: 1_500,
          latencyMs: 800,
        },
        prompt: 'Is "Hello" polite?',
        raw: '{"score":0.5}',
        parse: 'tool',
      },
    );
  t.strictSame(await api.make('/v1/evaluator/llm/test', llmTest()), {
    score: 0.5,
    label: null,
    reasoning: 'It is.',
    flags: ['parse_fallback'],
    warnings: [],
    usage: { prompt_tokens: 12, completion_tokens: 3, calls: 1 },
    cost: 0.0000015,
    prompt: 'Is "Hello" polite?',
    raw: '{"score":0.5}',
    parse: 'tool',
    members: null,
    duration_ms: 3,
    error: null,
  });
  t.strictSame(api.process.bodies, [
    {
      kind: 'test',
      evaluatorName: 'Polite',
      testInput: {
        requestText: '{"messages":[{"role":"user","content":"Hi"}]}',
        responseText: '{"choices":[{"message":{"content":"Hello"}}]}',
        inputs: {},
      },
      scoringType: 'LLM-BOOLEAN',
      llmTemplate: BOOLEAN.llm_template,
    },
  ]);
});

t.test('a trial whose evaluation fails returns that failure as its result', async (t) => {
  api.process.answer = () =>
    tested(
      {
        state: 'failed',
        code: 'judge_refused',
        message: 'The judge refused',
        retry: 'never',
        retryAfterMs: null,
        pause: null,
        traces: null,
      },
      { raw: 'I cannot' },
    );
  t.match(await api.make('/v1/evaluator/llm/test', llmTest()), {
    score: null,
    usage: null,
    cost: null,
    raw: 'I cannot',
    error: { code: 'judge_refused', message: 'The judge refused' },
  });
  api.process.answer = () =>
    tested({ state: 'skipped', reason: 'upstream_error', message: 'There is no answer' });
  t.strictSame(await api.make('/v1/evaluator/python/test', { code: CODE, testInput }), {
    output: null,
    label: null,
    reasoning: null,
    traces: '',
    duration_ms: 3,
    error: { code: 'upstream_error', message: 'There is no answer' },
  });
});

t.test('a Python trial returns its score, label, reasoning and printed output', async (t) => {
  api.process.answer = () =>
    tested(
      { state: 'completed', score: 5, label: 'good', reasoning: 'Why not.', traces: 'hi\n', flags: [] },
      { traces: 'hi\n', durationMs: 2 },
    );
  const categories = [
    { label: 'bad', score: 0 },
    { label: 'good', score: 5 },
  ];
  const body = { code: CODE, categories, testInput: { ...testInput, inputs: { name: 'Ann' } } };
  t.strictSame(await api.make('/v1/evaluator/python/test', body), {
    output: 5,
    label: 'good',
    reasoning: 'Why not.',
    traces: 'hi\n',
    duration_ms: 2,
    error: null,
  });
  t.match(api.process.bodies, [
    {
      scoringType: 'PYTHON',
      codeTemplate: { code: CODE, categories },
      testInput: { inputs: { name: 'Ann' } },
    },
  ]);
});

t.test(
  'a trial passes on bodies, inputs and what is expected with all digits of their numbers',
  async (t) => {
    const id = '12345678901234567890';
    const members = `"inputBody":{"id":${id}},"outputBody":{"id":${id}},"inputs":{"id":${id}},"expected":[${id}]`;
    // A body of more than 64 KiB is read in another way.
    for (const space of ['', ' '.repeat(100_000)]) {
      const raw = `{"code":${JSON.stringify(CODE)},${space}"testInput":{${members}}}`;
      t.equal((await api.call('/v1/evaluator/python/test', { method: 'POST', raw })).status, 200);
      const { testInput: given } = api.process.bodies.at(-1) as TestTrial;
      t.match(given, { requestText: `{"id":${id}}`, responseText: `{"id":${id}}`, expected: `[${id}]` });
      t.equal(api.process.inputs.at(-1), `{"id": ${id}}`, 'as text, from the row');
    }
  },
);

t.test('a trial holds no more values than are parsed at once, and repeats no names', async (t) => {
  const tried = async (inputs: string) => {
    const members = `"inputBody":{},"outputBody":{},"inputs":${inputs}`;
    const raw = `{"code":${JSON.stringify(CODE)},"testInput":{${members}}}`;
    const { status, body } = await api.call('/v1/evaluator/python/test', { method: 'POST', raw });
    return { status, error: body.error };
  };
  t.match(await tried('{"a":1,"a":2}'), { status: 400, error: /names "a" twice/ });
  t.match(await tried(`{"a":[${'[],'.repeat(300_000)}1]}`), {
    status: 400,
    error: /holds 3\d+ values, of which at most 20000 are allowed/,
  });
});

t.test('an external trial passes its secrets on sealed', async (t) => {
  t.strictSame(
    await api.make('/v1/evaluator/external/test', { external_config: EXTERNAL.external_config, testInput }),
    { score: 1, reasoning: null, duration_ms: 3, error: null },
  );
  const [body] = api.process.bodies as (TestTrial & { sealedSecrets: string })[];
  t.notMatch(JSON.stringify(body), 'very-secret');
  const owner = { organizationId: api.own.organizationId, evaluatorId: 'trial' };
  t.strictSame(secretBox.open(Buffer.from(body!.sealedSecrets, 'base64'), owner), {
    'headers.authorization': 'Bearer very-secret-token',
  });
});

t.test('trials are validated like the creation of an evaluator', async (t) => {
  const REFUSALS: [string, unknown, string | RegExp][] = [
    ['llm', llmTest({ model: 'm' }), 'evaluatorConfig.evaluator_llm_template.prompt is required'],
    ['llm', llmTest({ model: 'm', prompt: '{{x}}' }), /^evaluatorConfig\.evaluator_llm_template\.prompt .*x/],
    [
      'llm',
      llmTest({ model: 'm', prompt: 'p' }, 'LLM-RANGE'),
      'evaluatorConfig.evaluator_llm_template.min is required',
    ],
    [
      'llm',
      llmTest({ model: 'm', prompt: 'p' }, 'PYTHON'),
      'evaluatorConfig.evaluator_scoring_type must be one of "LLM-BOOLEAN", "LLM-CHOICE", "LLM-RANGE", but is "PYTHON"',
    ],
    [
      'llm',
      { ...llmTest(), testInput: { inputBody: {}, outputBody: 'Hello' } },
      'testInput.outputBody must be JSON, or a string of JSON, but is "Hello"',
    ],
    ['llm', { ...llmTest(), testInput: { inputBody: {} } }, 'testInput.outputBody is required'],
    [
      'llm',
      { ...llmTest(), testInput: { ...testInput, inputs: [] } },
      'testInput.inputs must be an object, but is []',
    ],
    ['python', { testInput }, 'code is required'],
    ['python', { code: '', testInput }, 'code must not be empty'],
    ['python', { code: CODE, testInput, id: 1 }, 'id is not a known field'],
    ['external', { testInput }, 'external_config is required'],
    [
      'external',
      { external_config: { adapter: 'y' }, testInput },
      /^external_config\.adapter must be one of/,
    ],
  ];
  for (const [kind, body, sentence] of REFUSALS) {
    const answer = await api.call(`/v1/evaluator/${kind}/test`, { body });
    t.equal(answer.status, 400, `${sentence}`);
    t.match(answer.body.error, sentence);
  }
  t.strictSame(api.process.bodies, [], 'and nothing is tried');
});

t.test('a trial that the evaluators process cannot run now is refused with its reason', async (t) => {
  api.process.answer = () => ({ kind: 'unavailable', message: 'There is no sandbox on this machine' });
  const answer = await api.call('/v1/evaluator', { body: { name: 'Unboxed', ...PYTHON } });
  t.strictSame([answer.status, answer.body.error], [503, 'There is no sandbox on this machine']);
  t.equal(await rowsLeft(), 0);
});

t.test('the result of a trial is found without a notification', async (t) => {
  api.process.tells = false;
  const start = performance.now();
  t.match(await api.make('/v1/evaluator/python/test', { code: CODE, testInput }), { output: 1 });
  t.ok(performance.now() - start < 2_500);
});

/** Trials as the API makes them, with other patience. */
function trialsWith(t: { teardown(clean: () => Promise<void>): void }, patience: TrialsOptions['patience']) {
  const sql = connectAsApi(api.database.url, { max: 4 });
  const trials = createTrials({
    sql,
    listener: createListener({ sql, log: silentLog }),
    clock: systemClock,
    ...(patience === undefined ? {} : { patience }),
  });
  t.teardown(async () => {
    await trials.stop();
    await sql.end();
  });
  return (organizationId = api.own.organizationId, body: TrialBody = { kind: 'compile', code: 'x' }) =>
    trials.run({ organizationId, body });
}

t.test('without an evaluators process, a trial fails soon and leaves no row', async (t) => {
  const run = trialsWith(t, { takenMs: 300 });
  await api.process.stop();
  await t.rejects(run(), {
    code: 'evaluators_unavailable',
    message: 'No evaluators process is free, or none runs: try again',
  });
  t.equal(await rowsLeft(), 0);
});

const TOO_MANY = {
  code: 'evaluators_unavailable',
  message: 'Too many evaluators are being compiled or tried out at once: try again',
};

/** Answers a share of the trials that wait, as an evaluators process would. */
const compileSome = (limit: number) => api.database.sql`
  update assay.evaluator_trials set taken_at = now(), result = '{"kind": "compile", "ok": true}'
   where trial_id = any(array(select trial_id from assay.evaluator_trials where result is null limit ${limit}))`;

t.test(
  'trials of an organization beyond eight wait for its earlier ones, and delay no other organization',
  async (t) => {
    const run = trialsWith(t, { queuedMs: 30_000, takenMs: 30_000, localMs: 30_000 });
    await api.process.stop();
    const own = Array.from({ length: 20 }, () => run());
    await waitFor('the first of them', async () => (await rowsLeft()) === 8);
    const other = run(api.other.organizationId);
    await waitFor("the other's", async () => (await rowsLeft()) === 9);
    for (let round = 0; round < 20 && (await rowsLeft()) > 0; round += 1) {
      t.ok((await rowsLeft()) <= 9, 'at most eight of one organization are asked for');
      await compileSome(3);
      await waitFor('the callers to have them', async () => {
        const [row] = await api.database.sql`
        select count(*)::int4 as count from assay.evaluator_trials where result is not null`;
        return row!.count === 0;
      });
    }
    t.same(await Promise.all([...own, other]), Array(21).fill({ kind: 'compile', ok: true }));
  },
);

t.test(
  'a trial that waited too long is refused, and one beyond the bound of waiting ones at once',
  async (t) => {
    const run = trialsWith(t, { queuedMs: 300, takenMs: 30_000, localMs: 3_000 });
    await api.process.stop();
    const first = Array.from({ length: 8 }, () => t.rejects(run(), { message: /lost this call/ }));
    await waitFor('those under way', async () => (await rowsLeft()) === 8);
    const queued = Array.from({ length: 32 }, () => run().catch((error: unknown) => error));
    const oneTooMany = run().catch((error: unknown) => error);
    t.match(await Promise.race([oneTooMany, ...queued]), TOO_MANY);
    for (const refused of await Promise.all(queued)) t.match(refused, TOO_MANY);
    t.equal(await rowsLeft(), 8, 'those under way are not disturbed');
    await api.database.sql`delete from assay.evaluator_trials`;
    await Promise.all(first);
  },
);

t.test('a trial whose evaluators process never answers fails in time', async (t) => {
  const run = trialsWith(t, { localMs: 1_200, remoteMs: 1_500 });
  const taking = setInterval(() => {
    api.database.sql`update assay.evaluator_trials set taken_at = now()`.catch(() => {});
  }, 50);
  t.teardown(() => clearInterval(taking));
  await t.rejects(run(), {
    code: 'evaluators_unavailable',
    message: 'The evaluators took too long: try again',
  });
  const judge = { kind: 'test', scoringType: 'LLM-BOOLEAN', testInput: {} } as TrialBody;
  await t.rejects(run(api.own.organizationId, judge), {
    code: 'evaluators_unavailable',
    message: 'The judge or service has not answered within 1.5 s, which is as long as a try-out waits',
  });
});

t.test('trials of one organization are invisible to another', async (t) => {
  const sql = connectAsApi(api.database.url);
  t.teardown(() => sql.end());
  await api.database.sql`
    insert into assay.evaluator_trials (organization_id, body) values (${api.other.organizationId}, '{}')`;
  const seen = await sql.begin(async (tx) => {
    await tx`select set_config('assay.organization', ${api.own.organizationId}, true)`;
    return tx`select * from assay.evaluator_trials`;
  });
  t.equal(seen.length, 0);
});
