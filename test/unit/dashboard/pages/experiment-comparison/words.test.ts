import t from 'tap';
import type { MetricComparisonJson } from '#core/contracts/comparison.ts';
import {
  differenceText,
  missingText,
  nameOf,
  pText,
  valueText,
  verdictSentence,
} from '../../../../../dashboard/pages/experiment-comparison/words.ts';

const METRIC: MetricComparisonJson = {
  metric: 'score',
  evaluator_id: 'e1',
  name: 'helpful',
  kind: 'binary',
  direction: 'higher',
  pairs: 120,
  groups: 120,
  missing_baseline: 0,
  missing_candidate: 0,
  ungraded_baseline: 0,
  ungraded_candidate: 0,
  baseline_mean: 0.8,
  candidate_mean: 0.758,
  candidate_alone: { items: 200, mean: 0.758, ungraded: 0 },
  difference: -0.042,
  interval: { low: -0.073, high: -0.011, method: 'newcombe' },
  interval_note: null,
  p_value: 0.008,
  p_method: 'mcnemar mid-p',
  adjusted_p_value: 0.008,
  table: null,
  wilcoxon: null,
  minimum_detectable: 0.05,
  corrected: null,
  corrected_note: null,
  verdict: 'worse',
  regressions: [],
};
const say = (changes: Partial<MetricComparisonJson>, margin: number | null = null, alpha = 0.05) =>
  verdictSentence({ ...METRIC, ...changes }, { alpha, margin });

t.test('a verdict is a sentence with the difference, its interval and p', async (t) => {
  t.equal(say({}), 'Worse: 4.2 points lower (95 % interval 1.1 to 7.3), p 0.008.');
  t.equal(
    say(
      {
        verdict: 'better',
        difference: 0.01,
        interval: { low: 0.002, high: 0.03, method: 'bca' },
        p_value: 0.0001,
        adjusted_p_value: 0.0004,
      },
      null,
      0.1,
    ),
    'Better: 1 point higher (90 % interval 0.2 to 3), adjusted p less than 0.001.',
  );
});

t.test('a loss within the margin names the margin', async (t) => {
  t.equal(
    say(
      {
        verdict: 'not_worse',
        difference: -0.003,
        interval: { low: -0.015, high: 0.009, method: 'newcombe' },
        p_value: 0.6,
        adjusted_p_value: 1,
      },
      0.02,
    ),
    'Not worse: the loss is less than the margin of 2 points; 0.3 points lower (95 % interval 1.5 points lower to 0.9 higher), adjusted p more than 0.99.',
  );
});

t.test('an undecided metric says what so many pairs would find, or why there is no interval', async (t) => {
  t.equal(
    say({
      verdict: 'undecided',
      difference: 0,
      interval: { low: -0.05, high: 0.05, method: 'newcombe' },
      p_value: 1,
      adjusted_p_value: null,
    }),
    'Undecided: no difference (95 % interval 5 points lower to 5 higher), p more than 0.99. 120 pairs find a difference of 5 points four times in five.',
  );
  t.equal(
    say({
      verdict: 'undecided',
      interval: null,
      interval_note: 'two groups are too few',
      p_value: null,
      adjusted_p_value: null,
      minimum_detectable: null,
    }),
    'Undecided: 4.2 points lower. No interval: two groups are too few.',
  );
  t.equal(say({ verdict: 'undecided', pairs: 0 }), 'Undecided: no item has a value in both.');
});

t.test('each metric is written in its own unit, and has a name', async (t) => {
  const of = (metric: string, kind: 'numeric' | 'binary' = 'numeric') => ({ metric, kind });
  t.equal(valueText(of('cost_usd'), 0.0021), '$0.0021');
  t.equal(valueText(of('latency_ms'), 1234), '1.23 s');
  t.equal(valueText(of('errors', 'binary'), 0.031), '3.1%');
  t.equal(valueText(of('score'), null), '–');
  t.equal(differenceText(of('tokens'), -12.34), '−12.3 tokens');
  t.equal(differenceText(of('score'), 0.5), '+0.5');
  t.equal(differenceText(of('errors', 'binary'), 0), '0 points');
  t.same(
    [nameOf({ metric: 'score', name: 'helpful' }), nameOf({ metric: 'cost_usd', name: 'cost_usd' })],
    ['helpful', 'Cost'],
  );
});

t.test('p has two digits, and none at the ends where they would say too much', async (t) => {
  t.same([null, 0.00001, 0.0123, 0.999].map(pText), ['–', 'less than 0.001', '0.012', 'more than 0.99']);
});

t.test('items that only one side has are counted', async (t) => {
  t.equal(missingText(METRIC), null);
  t.equal(
    missingText({ ...METRIC, missing_baseline: 2, missing_candidate: 1 }),
    'Items left out: 2 without a value in the baseline, 1 without a value in the candidate.',
  );
});
