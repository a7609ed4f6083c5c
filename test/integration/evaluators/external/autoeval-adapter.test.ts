import t, { type Test } from 'tap';
import type { AutoevalConfig } from '#core/contracts/external.ts';
import { batchSizeOf, runExternalMany } from '../../../../evaluators/external/mod.ts';
import { clock, evaluator, outcomeOf, startService, subjectOf } from './world.ts';

const secrets = { apiKey: 'lm-key-123456' };
const configOf = (url: string, more: Partial<AutoevalConfig> = {}): AutoevalConfig => ({
  adapter: 'autoeval',
  url,
  metric: 'Faithfulness',
  apiKey: '[secret]',
  ...more,
});

type Many = Parameters<typeof runExternalMany>[0];

/** Evaluates all items by the service of `config`. */
function evaluateAll(config: Many['config'], items: Many['items'], outbound: Many['outbound']) {
  return runExternalMany({ config, secrets, evaluator, items, outbound, clock });
}

/** Responds as LastMile's service does: with a score for each row, here the length of its output. */
const measure = (t: Test) =>
  startService(t, (got, response) => {
    const { output } = JSON.parse(got.body) as { output: string[] };
    response.end(
      JSON.stringify({
        metric: { name: 'Faithfulness', deploymentStatus: 'X' },
        scores: output.map((text) => text.length),
      }),
    );
  });

t.test('the AutoEval service is posted a metric and arrays, and its score is the outcome', async (t) => {
  const { url, received, outbound } = await measure(t);
  t.match(await outcomeOf({ config: configOf(url), secrets, outbound }), {
    state: 'completed',
    score: 5,
    reasoning: null,
  });
  t.match(received[0]?.headers, {
    authorization: 'Bearer lm-key-123456',
    'content-type': 'application/json',
  });
  t.same(JSON.parse(received[0]?.body ?? ''), {
    metric: { name: 'Faithfulness' },
    input: ['What is the capital of France?'],
    output: ['Paris'],
  });
  const { metric: _, ...byId } = configOf(url, {
    metricId: 'cm1',
    projectId: 'p1',
    expectedFrom: 'properties.Expected-City',
  });
  await outcomeOf({ config: byId, secrets, outbound });
  t.match(JSON.parse(received[1]?.body ?? ''), {
    metric: { id: 'cm1' },
    projectId: 'p1',
    groundTruth: ['Paris'],
  });
  await outcomeOf({ config: configOf(url, { expected: { a: [1] } }), secrets, outbound });
  t.match(JSON.parse(received[2]?.body ?? ''), { groundTruth: ['{"a":[1]}'] });
});

t.test(
  'records are sent to AutoEval in one call, and one without its expected value fails alone',
  async (t) => {
    const { url, received, outbound } = await measure(t);
    const config = configOf(url, { expectedFrom: 'inputs.answer' });
    const items = Array.from({ length: 120 }, (_, index) => ({
      evaluationId: String(index),
      subject: subjectOf({
        output: 'x'.repeat(index),
        inputs: index % 10 === 3 ? {} : { answer: `a${index}` },
      }),
    }));
    const evaluated = await evaluateAll(config, items, outbound);
    t.equal(evaluated.length, 120);
    for (const [index, { outcome }] of evaluated.entries()) {
      t.match(
        outcome,
        index % 10 === 3
          ? { state: 'failed', code: 'ext_not_applicable', retry: 'never' }
          : { state: 'completed', score: index },
      );
    }
    t.same(
      received.map(({ body }) => (JSON.parse(body) as { input: string[] }).input.length),
      [45, 45, 18],
    );
    t.equal(batchSizeOf(config), 50);
  },
);

t.test('a wrong number of scores from AutoEval fails all its records, a bad score one record', async (t) => {
  const items = ['1', '2', '3'].map((evaluationId) => ({ evaluationId, subject: subjectOf() }));
  for (const scores of ['[1,2]', '[1,2,3,4]', '[]', 'null', '5', '{"0":1}']) {
    const { url, outbound } = await startService(t, (_, response) => response.end(`{"scores":${scores}}`));
    const evaluated = await evaluateAll(configOf(url), items, outbound);
    t.match(
      evaluated.map(({ outcome }) => outcome),
      Array(3).fill({ state: 'failed', code: 'ext_bad_answer', retry: 'never' }),
      scores,
    );
  }
  const { url, outbound } = await startService(t, (_, response) => response.end('{"scores":[0.5,null,1]}'));
  const evaluated = await evaluateAll(configOf(url), items, outbound);
  t.match(
    evaluated.map(({ outcome }) => outcome),
    [{ state: 'completed', score: 0.5 }, { code: 'ext_bad_answer' }, { state: 'completed', score: 1 }],
  );
});

t.test(
  'a failed call to AutoEval fails all its records with one code and without a secret in the message',
  async (t) => {
    const { url, outbound } = await startService(t, (got, response) => {
      response.writeHead(401).end(`bad key ${got.headers.authorization}`);
    });
    const items = ['1', '2'].map((evaluationId) => ({ evaluationId, subject: subjectOf() }));
    const evaluated = await evaluateAll(configOf(url), items, outbound);
    t.match(
      evaluated.map(({ outcome }) => outcome),
      Array(2).fill({
        code: 'ext_unauthorized',
        pause: 'auth',
        message: /status 401: bad key Bearer \[secret\]$/,
      }),
    );
    t.notMatch(JSON.stringify(evaluated), /lm-key/);
  },
);

t.test(
  'records that are too large together are sent to AutoEval one by one, and one too large by itself fails alone',
  async (t) => {
    const { url, received, outbound } = await measure(t);
    const sizes = [5, 5, 9, 1].map((mb) => mb * 1024 * 1024);
    const items = sizes.map((size, index) => ({
      evaluationId: String(index),
      subject: subjectOf({ output: 'x'.repeat(size) }),
    }));
    const evaluated = await evaluateAll(configOf(url), items, outbound);
    t.match(
      evaluated.map(({ outcome }) => outcome),
      [{ score: sizes[0] }, { score: sizes[1] }, { code: 'input_too_large' }, { score: sizes[3] }],
    );
    t.equal(received.length, 3);
  },
);
