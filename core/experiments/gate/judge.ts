/** Decides the rules of a gate by a comparison. Pure. */
import type { MetricComparisonJson } from '../../contracts/comparison.ts';
import type { RuleOutcome, RuleResultJson } from '../../contracts/gate.ts';
import { describeDifference, number } from './numbers.ts';
import type { Operator, Rule } from './rules.ts';

/** Facts that a gate knows beside the comparison of a metric. */
export type GateFacts = {
  /** One less the confidence of intervals. */
  alpha: number;
  /** Answers of both sides that failed, for rules on errors, and those that were asked for: items that were skipped are none. */
  failed: number;
  asked: number;
  baselineFailed: number;
  baselineAsked: number;
  /** Items of the candidate that were skipped. */
  skipped: number;
};

type Decided = { outcome: RuleOutcome; sentence: string };

/**
 * Decides a rule. `better` and `not-worse` weigh noise: what the data do not decide is undecided. Bounds compare what was
 * measured, as it is.
 */
export function judgeRule(rule: Rule, metric: MetricComparisonJson, facts: GateFacts): RuleResultJson {
  return { rule: rule.text, ...decide(rule, metric, facts) };
}

function decide({ test }: Rule, metric: MetricComparisonJson, facts: GateFacts): Decided {
  if (test.kind === 'bound' && metric.metric === 'errors') return decideErrors(test, facts);
  const { pairs, candidate_mean: candidate, baseline_mean: baseline } = metric;
  if (pairs === 0 || candidate === null || baseline === null)
    return { outcome: 'undecided', sentence: `No item was measured on both sides${skippedToo(facts)}` };
  if (test.kind === 'bound') {
    const bound = test.unit === 'times' ? test.value * baseline : test.value;
    const of =
      test.unit === 'times' ? `, ${number(test.value)} times the ${number(baseline)} of the baseline` : '';
    return bounded(test.operator, candidate, bound, `The mean is ${number(candidate)}, and must be`, of);
  }
  const sentence = `${describeDifference(metric, facts.alpha)}${missing(metric)}`;
  const { verdict } = metric;
  if (verdict === 'better' || (verdict === 'not_worse' && test.kind === 'not-worse'))
    return { outcome: 'pass', sentence };
  return { outcome: verdict === 'worse' ? 'fail' : 'undecided', sentence };
}

type Bound = Extract<Rule['test'], { kind: 'bound' }>;

function decideErrors({ operator, unit, value }: Bound, facts: GateFacts): Decided {
  const { failed, asked, baselineFailed, baselineAsked } = facts;
  if (asked === 0) return { outcome: 'undecided', sentence: `No answer was asked for${skippedToo(facts)}` };
  const told = `${failed} of ${asked} answers failed${skippedToo(facts)}`;
  if (unit === 'absolute') return bounded(operator, failed, value, `${told}, and the number must be`, '');
  const share = failed / asked;
  if (unit === 'share') return bounded(operator, share, value, `${told}, and the share must be`, '');
  const ofBaseline = baselineAsked === 0 ? 0 : baselineFailed / baselineAsked;
  const of = `, ${number(value)} times the ${number(ofBaseline)} of the baseline`;
  return bounded(operator, share, value * ofBaseline, `${told}, and the share must be`, of);
}

/** Tells of items that were skipped, and so neither answered nor failed. */
function skippedToo({ skipped }: GateFacts): string {
  if (skipped === 0) return '';
  return skipped === 1 ? ' (1 item was skipped)' : ` (${skipped} items were skipped)`;
}

/** Relative difference of equal values that arithmetic explains. */
const CLOSE = 1e-12;

function bounded(operator: Operator, value: number, bound: number, told: string, of: string): Decided {
  const isEqual = Math.abs(value - bound) <= CLOSE * Math.max(Math.abs(value), Math.abs(bound));
  const holds = {
    '<=': isEqual || value < bound,
    '<': !isEqual && value < bound,
    '>=': isEqual || value > bound,
    '>': !isEqual && value > bound,
    '=': isEqual,
  }[operator];
  return { outcome: holds ? 'pass' : 'fail', sentence: `${told} ${operator} ${number(bound)}${of}` };
}

/** Tells of items that only one side has, which the other numbers leave out. */
function missing({ missing_baseline, missing_candidate }: MetricComparisonJson): string {
  const parts = [
    ...(missing_candidate > 0 ? [`${missing_candidate} without a value of the candidate`] : []),
    ...(missing_baseline > 0 ? [`${missing_baseline} without one of the baseline`] : []),
  ];
  return parts.length === 0 ? '' : `; left out are ${parts.join(' and ')}`;
}

/** Returns the outcome of a gate: the worst of its rules. */
export function gateOutcome(rules: readonly RuleResultJson[]): RuleOutcome {
  if (rules.some(({ outcome }) => outcome === 'fail')) return 'fail';
  return rules.some(({ outcome }) => outcome === 'undecided') ? 'undecided' : 'pass';
}
