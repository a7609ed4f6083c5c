import t from 'tap';
import type { MetricComparisonJson } from '#core/contracts/comparison.ts';
import { type GateFacts, gateOutcome, judgeRule, parseRules } from '#core/experiments/gate/mod.ts';

const FACTS: GateFacts = {
  alpha: 0.05,
  failed: 0,
  asked: 200,
  baselineFailed: 4,
  baselineAsked: 200,
  skipped: 0,
};

const metric = (more: Partial<MetricComparisonJson>): MetricComparisonJson => ({
  metric: 'score',
  evaluator_id: 'e',
  name: 'helpful',
  kind: 'binary',
  direction: 'higher',
  pairs: 200,
  groups: 200,
  missing_baseline: 0,
  missing_candidate: 0,
  baseline_mean: 0.8,
  candidate_mean: 0.78,
  difference: -0.02,
  interval: { low: -0.05, high: 0.01, method: 'newcombe' },
  interval_note: null,
  p_value: 0.2,
  p_method: 'mcnemar mid-p',
  adjusted_p_value: 0.2,
  table: null,
  wilcoxon: null,
  minimum_detectable: 0.06,
  corrected: null,
  corrected_note: null,
  verdict: 'undecided',
  regressions: [],
  ...more,
});

const judge = (rule: string, more: Partial<MetricComparisonJson> = {}, facts: Partial<GateFacts> = {}) =>
  judgeRule(parseRules([rule])[0]!, metric(more), { ...FACTS, ...facts });

t.test('rules that weigh noise follow the verdict of the comparison', async (t) => {
  const outcomes = (rule: string) =>
    (['better', 'not_worse', 'undecided', 'worse'] as const).map(
      (verdict) => judge(rule, { verdict }).outcome,
    );
  t.same(outcomes('helpful better'), ['pass', 'undecided', 'undecided', 'fail']);
  t.same(outcomes('helpful not-worse 0.05'), ['pass', 'pass', 'undecided', 'fail']);
});

t.test('a decided rule says by how much, with the interval, p and what is left out', async (t) => {
  t.equal(
    judge('helpful not-worse 0.02', { missing_candidate: 3, missing_baseline: 1 }).sentence,
    'undecided: -0.02 over 200 items, 95 % interval -0.05 to +0.01, p 0.2; left out are 3 without a value of the candidate and 1 without one of the baseline',
  );
  const noInterval = { interval: null, interval_note: 'all differences are equal', adjusted_p_value: null };
  t.equal(
    judge('helpful better', noInterval).sentence,
    'undecided: -0.02 over 200 items, all differences are equal',
  );
});

t.test(
  'bounds hold for means as they were measured, absolute or as a multiple of the baseline',
  async (t) => {
    const cost = { baseline_mean: 0.002, candidate_mean: 0.0022, verdict: 'worse' } as const;
    t.equal(judge('cost <= 1.1x', cost).outcome, 'pass', 'equal but for rounding');
    t.equal(judge('cost < 1.1x', cost).outcome, 'fail');
    t.match(judge('cost <= 1.05x', cost), {
      outcome: 'fail',
      sentence: 'The mean is 0.0022, and must be <= 0.0021, 1.05 times the 0.002 of the baseline',
    });
    t.equal(judge('helpful >= 0.78').outcome, 'pass');
    t.equal(judge('helpful > 0.8').outcome, 'fail');
    t.match(judge('helpful >= 0.5', { pairs: 0, candidate_mean: null, baseline_mean: null }), {
      outcome: 'undecided',
      sentence: 'No item was measured on both sides',
    });
  },
);

t.test('errors are bounded by their number, their share, or those of the baseline', async (t) => {
  const errors = (rule: string, failed: number) => judge(rule, { metric: 'errors' }, { failed }).outcome;
  t.same([errors('errors = 0', 0), errors('errors = 0', 1)], ['pass', 'fail']);
  t.same([errors('errors <= 1%', 2), errors('errors <= 1%', 3)], ['pass', 'fail']);
  t.same([errors('errors <= 1.5x', 6), errors('errors <= 1.5x', 7)], ['pass', 'fail']);
});

t.test('a gate is as good as the worst of its rules', async (t) => {
  const of = (...outcomes: ('pass' | 'fail' | 'undecided')[]) =>
    gateOutcome(outcomes.map((outcome) => ({ rule: '', outcome, sentence: '' })));
  t.equal(of('pass', 'pass'), 'pass');
  t.equal(of('pass', 'undecided'), 'undecided');
  t.equal(of('undecided', 'fail', 'pass'), 'fail');
});

t.test('no rule passes when every item was skipped, and skipped items are told', async (t) => {
  const none = { pairs: 0, baseline_mean: null, candidate_mean: null } as const;
  const skipped = { asked: 0, skipped: 200 };
  for (const rule of [
    'errors = 0',
    'errors <= 1%',
    'errors <= 1x',
    'helpful not-worse 0.02',
    'cost <= 1.1x',
  ]) {
    const metricOf = rule.startsWith('errors') ? { metric: 'errors' } : {};
    t.match(judge(rule, { ...none, ...metricOf } as Partial<MetricComparisonJson>, skipped), {
      outcome: 'undecided',
      sentence: /\(200 items were skipped\)$/,
    });
  }
  t.match(
    judge('errors = 0', { metric: 'errors' } as Partial<MetricComparisonJson>, { asked: 199, skipped: 1 }),
    { outcome: 'pass', sentence: /^0 of 199 answers failed \(1 item was skipped\)/ },
  );
});
