import t from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { judge } from '../../../../evaluators/llm/judge.ts';
import { createJudgeClient } from '../../../../evaluators/llm/mod.ts';
import { startTestGateway } from '../../../support/gateway.ts';
import { SCALES } from '../../../support/judge/judge-answers.ts';
import { SUBJECT } from '../../../support/judge/scripted-judge.ts';

const gateway = await startTestGateway(t, { PROVIDER_FIRST_BYTE_TIMEOUT_MS: '1000' });
const edge = createJudgeClient({
  gatewayUrl: gateway.url,
  internalHeaders: () => ({ authorization: `Bearer ${gateway.key}` }),
  timeouts: { connectMs: 5_000, firstByteMs: 20_000, totalMs: 20_000 },
  clock: systemClock,
});
t.teardown(async () => {
  await edge.close();
});

const asks = (model = 'gpt-4o-mini') =>
  judge({
    ...SCALES.range,
    template: { ...SCALES.range.template, model },
    evaluatorName: 'Politeness',
    subject: SUBJECT,
    session: edge.sessionFor('org', '7'),
  });

t.test("the reported use of an attempt equals the gateway's records of its calls", async (t) => {
  const scores = ['"4/5"', '4'];
  gateway.provider.script(() => ({
    kind: 'answer',
    toolCalls: [{ name: 'submit_verdict', arguments: `{"reasoning":"Polite.","score":${scores.shift()}}` }],
    usage: { promptTokens: 300, completionTokens: 40, cachedTokens: 100 },
  }));
  const { outcome, use } = await asks('openai/gpt-4o-mini');
  t.match(outcome, { state: 'completed', score: 4, flags: ['repaired'] });
  t.match(use, { calls: 2, promptTokens: 600, completionTokens: 80 });
  const records = await Promise.all(use!.requestIds.map((id) => gateway.record(id)));
  t.equal(records.length, 2);
  t.equal(
    use!.costNano,
    records.reduce((sum, record) => sum + Number(record.cost_nano), 0),
  );
  t.match(records[0]?.request_text, 'submit_verdict');
});

t.test('a judge that is a list of models is priced by the model that answered', async (t) => {
  gateway.provider.script((request) =>
    request.body.includes('gpt-4o-mini')
      ? { kind: 'error', status: 500 }
      : {
          kind: 'answer',
          toolCalls: [{ name: 'submit_verdict', arguments: '{"reasoning":"Polite.","score":4}' }],
          usage: { promptTokens: 300, completionTokens: 40 },
        },
  );
  const { use } = await asks('gpt-4o-mini,gpt-4o');
  // 300 tokens at 2.50 USD and 40 at 10 USD a million.
  t.match(use, { calls: 1, costNano: 300 * 2_500 + 40 * 10_000 });
});

t.test("each failure of a judge's provider behind the gateway has its error code", async (t) => {
  gateway.provider.script(() => ({ kind: 'html', status: 200 }));
  t.match(await asks(), { outcome: { code: 'judge_malformed', retry: 'never' }, use: { calls: 2 } });
  gateway.provider.script(() => ({ kind: 'html', status: 503 }));
  t.match(await asks(), { outcome: { code: 'judge_unavailable', retry: 'later' } });
  gateway.provider.script(() => ({ kind: 'error', status: 429, headers: { 'retry-after': '3' } }));
  t.match(await asks(), { outcome: { code: 'judge_rate_limited', retryAfterMs: 3_000 } });
  gateway.provider.script(() => ({ kind: 'error', status: 401, code: 'invalid_api_key' }));
  t.match(await asks(), { outcome: { code: 'judge_unauthorized', pause: 'auth' } });
  gateway.provider.script(() => ({ kind: 'cut', at: 'body' }));
  t.match(await asks(), { outcome: { code: 'judge_unavailable', retry: 'later' } });
  gateway.provider.script(() => ({ kind: 'hang' }));
  t.match(await asks(), { outcome: { code: 'judge_timeout', retry: 'later' }, use: { requestIds: [/./] } });
});

t.test('a model that the gateway itself refuses pauses the evaluator', async (t) => {
  t.match(await asks('no-such-model'), { outcome: { code: 'judge_model_unavailable', pause: 'model' } });
  t.match(await asks('mistral/mistral-small'), {
    outcome: { code: 'judge_model_unavailable', pause: 'model' },
  });
});
