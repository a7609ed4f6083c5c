import t from 'tap';
import type { ComparisonJson, MetricComparisonJson } from '#core/contracts/comparison.ts';
import {
  chosenCandidate,
  chosenMetric,
  metricsWithLosses,
} from '../../../../../dashboard/pages/experiment-comparison/losses.ts';

const metric = (name: string, verdict: string, losses: number) =>
  ({
    metric: name === 'cost_usd' ? name : 'score',
    evaluator_id: name === 'cost_usd' ? null : name,
    verdict,
    regressions: Array.from({ length: losses }, () => ({})),
  }) as unknown as MetricComparisonJson;
const candidate = {
  id: 'c1',
  name: 'c1',
  left_out: [],
  changed_items: 0,
  win_rates: [],
  metrics: [
    metric('a', 'undecided', 2),
    metric('cost_usd', 'worse', 3),
    metric('b', 'worse', 1),
    metric('d', 'worse', 0),
  ],
};

t.test(
  'metrics that got worse come first, scores before costs, and those without losses are left out',
  async (t) => {
    t.same(
      metricsWithLosses(candidate).map(({ evaluator_id }) => evaluator_id),
      ['b', null, 'a'],
    );
  },
);

t.test('the address chooses the metric and the candidate, when they are there', async (t) => {
  const comparison = { candidates: [candidate, { ...candidate, id: 'c2' }] } as unknown as ComparisonJson;
  t.equal(chosenCandidate(comparison, 'c2')?.id, 'c2');
  t.equal(chosenCandidate(comparison, 'none')?.id, 'c1');
  t.equal(chosenMetric(candidate, 'cost_usd')?.metric, 'cost_usd');
  t.equal(chosenMetric(candidate, 'd')?.evaluator_id, 'b');
  t.equal(chosenMetric({ ...candidate, metrics: [] }, undefined), null);
});
