/** Answers that rows and roll-ups give alike: zeros among the groups' values, and scores of many digits. */
import t, { type Test } from 'tap';
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { startTestApi } from '../../../support/api.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const LONG_SCORE = 0.123_456_789_012_345_6;
const at = (hour: number) => new Date(Date.UTC(2026, 2, 3, hour));
await insertRequests(sql, api.own.organizationId, [
  { created_at: at(1), model: 'all-well', status: 200, user_id: 'ann', scores: { exact: LONG_SCORE } },
  { created_at: at(2), model: 'failing', status: 500, user_id: 'bob', prompt_tokens: 9, cost_nano: 5 },
  { created_at: at(3), model: 'failing', status: 200, user_id: 'bob', scores: { whole: 2 ** 53 - 1 } },
  { created_at: at(4), model: 'no-tokens', status: 200, user_id: 'zoe', prompt_tokens: 0 },
]);

const ask = async (body: object): Promise<MetricsAnswer> => {
  const answer = await api.call('/v1/metrics/query', {
    body: { range: { from: '2026-03-03', to: '2026-03-04' }, bucket: 'none', ...body },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as MetricsAnswer;
};

const ORDERS = [
  [{ metric: 'errors', aggregate: 'count' }, 'model', ['all-well', 'no-tokens', 'failing']],
  [{ metric: 'errors', aggregate: 'avg' }, 'model', ['all-well', 'no-tokens', 'failing']],
  [{ metric: 'cost', aggregate: 'count' }, 'model', ['all-well', 'no-tokens', 'failing']],
  [{ metric: 'prompt_tokens', aggregate: 'avg' }, 'model', ['no-tokens', 'failing', 'all-well']],
  [{ metric: 'errors', aggregate: 'count' }, 'user', ['ann', 'zoe', 'bob']],
] as const;
const SUMS = {
  measures: ['exact', 'whole'].map((key) => ({ metric: `score:${key}`, aggregate: 'sum' })),
};

async function compare(t: Test, source: MetricsAnswer['source']): Promise<void> {
  for (const [measure, dimension, ascending] of ORDERS) {
    const answer = await ask({
      measures: [measure],
      groupBy: [dimension],
      orderBy: { direction: 'asc' },
    });
    const found = answer.series.map(({ group }) => group[dimension]);
    t.equal(answer.source, source);
    t.same(found, ascending, `${measure.metric} ${measure.aggregate} by ${dimension}`);
  }
  const sums = await ask(SUMS);
  t.same([sums.source, sums.total.total], [source, [LONG_SCORE, 2 ** 53 - 1]]);
}

t.test('rows order groups by zeros as by other numbers, and sum scores with all of their digits', (t) =>
  compare(t, 'rows'),
);

t.test('roll-ups do the same', async (t) => {
  await registerRollups(sql);
  await applyAllChanges(sql);
  await recomputeAll(sql);
  await compare(t, 'rollup');
});
