import t from 'tap';
import type { MetricComparisonJson } from '#core/contracts/comparison.ts';
import { type GateFacts, gateOutcome, judgeRules, parseRules } from '#core/experiments/gate/mod.ts';

const FACTS: GateFacts = {
  alpha: 0.05,
  failed: 0,
  asked: 200,
  baselineFailed: 4,
  baselineAsked: 200,
  answered: 200,
  baselineAnswered: 196,
  skipped: 0,
  changed: 0,
  experimentId: '0194-candidate',
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
  ungraded_baseline: 0,
  ungraded_candidate: 0,
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
  candidate_alone: more.candidate_alone ?? {
    items: more.pairs ?? 200,
    mean: more.candidate_mean === undefined ? 0.78 : more.candidate_mean,
    ungraded: more.ungraded_candidate ?? 0,
  },
});

/** Judges rules on one metric, with the implied one on errors. */
function judgeAll(texts: string[], more: Partial<MetricComparisonJson> = {}, facts: Partial<GateFacts> = {}) {
  const rules = parseRules(texts);
  const metrics = new Map(
    rules.map((rule) => [rule.metric, metric(rule.metric === 'errors' ? { metric: 'errors' } : more)]),
  );
  metrics.delete('ungraded');
  return judgeRules(rules, metrics, { ...FACTS, ...facts });
}

const judge = (rule: string, more: Partial<MetricComparisonJson> = {}, facts: Partial<GateFacts> = {}) =>
  judgeAll([rule], more, facts)[0]!;

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
      sentence: 'No answer was measured',
    });
  },
);

t.test(
  'a bound is held against all answers of the candidate, and a multiple against those of both',
  async (t) => {
    const alone = { candidate_alone: { items: 400, mean: 0.5, ungraded: 0 }, missing_baseline: 200 };
    t.match(judge('helpful >= 0.78', alone), {
      outcome: 'fail',
      sentence: 'The mean is 0.5, and must be >= 0.78',
    });
    t.match(judge('helpful >= 0.5', { ...alone, pairs: 0, candidate_mean: null, baseline_mean: null }), {
      outcome: 'pass',
    });
    t.match(judge('helpful >= 0.9x', alone), {
      outcome: 'pass',
      sentence:
        'The mean is 0.78, and must be >= 0.72, 0.9 times the 0.8 of the baseline; left out are 200 without one of the baseline',
    });
    const ungraded = { ...alone, candidate_alone: { items: 400, mean: 0.9, ungraded: 3 } };
    t.match(judge('helpful >= 0.78', ungraded), {
      outcome: 'undecided',
      sentence: /3 of 200 answers have no grade/,
    });
  },
);

t.test('errors are bounded by their number, their share, or those of the baseline', async (t) => {
  const errors = (rule: string, failed: number) => judge(rule, { metric: 'errors' }, { failed }).outcome;
  t.same([errors('errors = 0', 0), errors('errors = 0', 1)], ['pass', 'fail']);
  t.same([errors('errors <= 1%', 2), errors('errors <= 1%', 3)], ['pass', 'fail']);
  t.same([errors('errors <= 1.5x', 6), errors('errors <= 1.5x', 7)], ['pass', 'fail']);
});

const NOT_WORSE = {
  verdict: 'not_worse',
  pairs: 50,
  missing_candidate: 150,
  ungraded_candidate: 150,
} as const;

t.test('no rule on scores passes while answers of the candidate have no grade', async (t) => {
  for (const rule of ['helpful not-worse 0.05', 'helpful >= 0.5', 'helpful <= 0.9', 'helpful >= 0.9x']) {
    const judged = judge(rule, NOT_WORSE);
    t.equal(judged.outcome, 'undecided', rule);
    t.match(
      judged.sentence,
      '; 150 of 200 answers have no grade (POST /v1/evaluation/query with the runId 0194-candidate tells why), and may be bad ones: grade them again, or allow some by a rule such as "ungraded <= 1%"',
    );
    t.equal(gateOutcome(judgeAll([rule], NOT_WORSE)), 'undecided');
  }
  t.equal(judge('helpful better', { ...NOT_WORSE, verdict: 'better' }).outcome, 'undecided');
  const one = { ...NOT_WORSE, pairs: 200, missing_candidate: 0, ungraded_candidate: 1 };
  t.equal(judge('helpful not-worse 0.05', one).outcome, 'undecided', 'one of several answers to an item');
});

t.test('missing grades excuse no rule that fails, and are told where nothing is decided', async (t) => {
  t.match(judge('helpful not-worse 0.05', { ...NOT_WORSE, verdict: 'worse' }), {
    outcome: 'fail',
    sentence: /; 150 of 200 answers have no grade \(.*\)$/,
  });
  t.equal(judge('helpful >= 0.8', NOT_WORSE).outcome, 'fail');
  const none = { pairs: 0, candidate_mean: null, baseline_mean: null, ungraded_candidate: 200 };
  t.match(judge('helpful not-worse 0.05', none), {
    outcome: 'undecided',
    sentence: /^No item was measured on both sides; 200 of 200 answers have no grade/,
  });
});

t.test('answers that failed do not count as answers without a grade', async (t) => {
  const judged = judgeAll(
    ['helpful not-worse 0.05', 'errors <= 1%'],
    { verdict: 'not_worse', missing_candidate: 2 },
    { failed: 2, answered: 198 },
  );
  t.equal(gateOutcome(judged), 'pass');
  t.match(
    judge('helpful not-worse 0.05', { ...NOT_WORSE, ungraded_candidate: 3 }, { failed: 2, answered: 198 })
      .sentence,
    '3 of 198 answers have no grade',
  );
});

t.test('answers of the baseline without a grade are told as items that are left out', async (t) => {
  const judged = judge('helpful not-worse 0.05', {
    verdict: 'not_worse',
    missing_baseline: 3,
    ungraded_baseline: 3,
  });
  t.equal(judged.outcome, 'pass');
  t.match(judged.sentence, /left out are 3 without one of the baseline$/);
});

t.test('a rule bounds the answers without a grade, and other rules then weigh those with one', async (t) => {
  const outcomes = (rule: string, ungraded: number, baseline = 0) =>
    judgeAll(['helpful not-worse 0.05', rule], {
      verdict: 'not_worse',
      ungraded_candidate: ungraded,
      ungraded_baseline: baseline,
    }).map(({ outcome }) => outcome);
  t.same(outcomes('ungraded <= 1%', 2), ['pass', 'pass', 'pass']);
  t.same(outcomes('ungraded <= 1%', 3), ['pass', 'fail', 'pass']);
  t.same([outcomes('ungraded = 0', 0)[1], outcomes('ungraded <= 5', 6)[1]], ['pass', 'fail']);
  t.same([outcomes('ungraded <= 1x', 4, 4)[1], outcomes('ungraded <= 1x', 5, 4)[1]], ['pass', 'fail']);
  t.match(
    judgeAll(['helpful not-worse 0.05', 'ungraded <= 1%'], { ungraded_candidate: 3 })[1]!.sentence,
    /^3 of 200 answers have no grade \(.*\), and the share must be <= 0\.01$/,
  );
  t.match(judgeAll(['helpful better', 'ungraded <= 1%'], {}, { answered: 0 })[1], {
    outcome: 'undecided',
    sentence: 'There is no answer',
  });
});

t.test('a bound on answers without a grade must hold for each evaluator', async (t) => {
  const rules = parseRules(['helpful better', 'polite better', 'ungraded <= 1%', 'cost <= 2x']);
  const metrics = new Map([
    ['helpful', metric({ ungraded_candidate: 1 })],
    ['polite', metric({ ungraded_candidate: 3 })],
    ['cost_usd', metric({ metric: 'cost_usd' })],
    ['errors', metric({ metric: 'errors' })],
  ]);
  t.match(judgeRules(rules, metrics, FACTS)[2], {
    outcome: 'fail',
    sentence: /^3 of 200 answers have no grade of one evaluator \(.*\), and the share must be <= 0\.01$/,
  });
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
