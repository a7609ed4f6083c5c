/** Decides the rules of a gate by a comparison. Pure. */
import type { MetricComparisonJson } from '../../contracts/comparison.ts';
import type { RuleOutcome, RuleResultJson } from '../../contracts/gate.ts';
import { describeDifference, number } from './numbers.ts';
import { type Operator, type Rule, UNGRADED } from './rules.ts';

/** Facts that a gate knows beside the comparison of a metric. */
export type GateFacts = {
  /** One less the confidence of intervals. */
  alpha: number;
  /** Answers of both sides that failed, for rules on errors, and those that were asked for: items that were skipped are none. */
  failed: number;
  asked: number;
  baselineFailed: number;
  baselineAsked: number;
  /** Answers of both sides that did not fail, each of which should have a grade of each evaluator. */
  answered: number;
  baselineAnswered: number;
  /** Items of the candidate that were skipped. */
  skipped: number;
  /** Items that were changed between the versions of both sides, which are not compared. */
  changed: number;
  /** The candidate, whose evaluations tell why an answer has no grade. */
  experimentId: string;
};

type Decided = { outcome: RuleOutcome; sentence: string };

/**
 * Decides the rules of a gate. `better` and `not-worse` weigh noise: what the data do not decide is undecided. Bounds compare
 * what was measured, as it is: of all answers of the candidate, or beside the baseline where they are a multiple of its mean. While answers of the candidate have no grade, nothing about their scores passes unless a rule
 * says how many may have none: judges refuse bad answers most of all, and a candidate would look better without them.
 * @param metrics by the metrics of the rules; none for `UNGRADED`
 */
export function judgeRules(
  rules: readonly Rule[],
  metrics: ReadonlyMap<string, MetricComparisonJson>,
  facts: GateFacts,
): RuleResultJson[] {
  const scores = [...metrics.values()].filter(({ metric }) => metric === 'score');
  const isAllowed = rules.some(({ metric }) => metric === UNGRADED);
  return rules.map(({ text, metric: name, test }) => {
    if (test.kind === 'bound' && name === UNGRADED)
      return { rule: text, ...decideUngraded(test, scores, facts) };
    const metric = metrics.get(name)!;
    const ungraded =
      test.kind === 'bound' && isAlone(test) ? metric.candidate_alone.ungraded : metric.ungraded_candidate;
    return { rule: text, ...withUngraded(decide(test, metric, facts), ungraded, facts, isAllowed) };
  });
}

/** Returns whether a bound is on the candidate's answers, whatever the baseline has. */
const isAlone = ({ unit }: Bound): boolean => unit !== 'times';

/** Tells of answers without a grade, and lets nothing pass for them unless another rule decides how many there may be. */
function withUngraded(
  { outcome, sentence }: Decided,
  ungraded: number,
  facts: GateFacts,
  isAllowed: boolean,
): Decided {
  if (ungraded === 0) return { outcome, sentence };
  const told = `${sentence}; ${ungradedOf(ungraded, facts)}`;
  if (isAllowed || outcome !== 'pass') return { outcome, sentence: told };
  const how = 'grade them again, or allow some by a rule such as "ungraded <= 1%"';
  return { outcome: 'undecided', sentence: `${told}, and may be bad ones: ${how}` };
}

/** Counts answers without a grade, and says where to look. */
function ungradedOf(count: number, { answered, experimentId }: GateFacts, by = ''): string {
  const where = count === 0 ? '' : ` (POST /v1/evaluation/query with the runId ${experimentId} tells why)`;
  return `${count} of ${answered} answers have no grade${by}${where}`;
}

function decide(test: Rule['test'], metric: MetricComparisonJson, facts: GateFacts): Decided {
  if (test.kind === 'bound' && metric.metric === 'errors') return decideErrors(test, facts);
  if (test.kind === 'bound' && isAlone(test)) {
    const { mean } = metric.candidate_alone;
    if (mean === null)
      return { outcome: 'undecided', sentence: `No answer was measured${skippedToo(facts)}` };
    return bounded(test.operator, mean, test.value, `The mean is ${number(mean)}, and must be`, '');
  }
  const { pairs, candidate_mean: candidate, baseline_mean: baseline } = metric;
  if (pairs === 0 || candidate === null || baseline === null)
    return {
      outcome: 'undecided',
      sentence: `No item was measured on both sides${skippedToo(facts)}${changedToo(facts)}`,
    };
  if (test.kind === 'bound') {
    const of = `, ${number(test.value)} times the ${number(baseline)} of the baseline${missing(metric)}${changedToo(facts)}`;
    const told = `The mean is ${number(candidate)}, and must be`;
    return bounded(test.operator, candidate, test.value * baseline, told, of);
  }
  const sentence = `${describeDifference(metric, facts.alpha)}${missing(metric)}${changedToo(facts)}`;
  const { verdict } = metric;
  if (verdict === 'better' || (verdict === 'not_worse' && test.kind === 'not-worse'))
    return { outcome: 'pass', sentence };
  return { outcome: verdict === 'worse' ? 'fail' : 'undecided', sentence };
}

type Bound = Extract<Rule['test'], { kind: 'bound' }>;

function decideErrors(test: Bound, facts: GateFacts): Decided {
  const { failed, asked, baselineFailed, baselineAsked } = facts;
  if (asked === 0) return { outcome: 'undecided', sentence: `No answer was asked for${skippedToo(facts)}` };
  const told = `${failed} of ${asked} answers failed${skippedToo(facts)}`;
  return decideCount(test, { count: failed, of: asked, baseline: [baselineFailed, baselineAsked] }, told);
}

/** Decides by the evaluator for which the bound does not hold, else by the one with the fewest grades. */
function decideUngraded(test: Bound, scores: readonly MetricComparisonJson[], facts: GateFacts): Decided {
  const { answered, baselineAnswered } = facts;
  if (answered === 0) return { outcome: 'undecided', sentence: `There is no answer${skippedToo(facts)}` };
  const decided = scores
    .toSorted((left, right) => right.candidate_alone.ungraded - left.candidate_alone.ungraded)
    .map(({ candidate_alone: { ungraded: count }, ungraded_baseline }) => {
      const told = ungradedOf(count, facts, scores.length === 1 ? '' : ' of one evaluator');
      return decideCount(
        test,
        { count, of: answered, baseline: [ungraded_baseline, baselineAnswered] },
        told,
      );
    });
  return decided.find(({ outcome }) => outcome === 'fail') ?? decided[0]!;
}

/** A number of answers of all of them, and the same of the baseline. */
type Counted = { count: number; of: number; baseline: [count: number, of: number] };

function decideCount(
  { operator, unit, value }: Bound,
  { count, of: all, baseline }: Counted,
  told: string,
): Decided {
  if (unit === 'absolute') return bounded(operator, count, value, `${told}, and the number must be`, '');
  const share = count / all;
  if (unit === 'share') return bounded(operator, share, value, `${told}, and the share must be`, '');
  const ofBaseline = baseline[1] === 0 ? 0 : baseline[0] / baseline[1];
  const of = `, ${number(value)} times the ${number(ofBaseline)} of the baseline`;
  return bounded(operator, share, value * ofBaseline, `${told}, and the share must be`, of);
}

/** Tells of items that were skipped, and so neither answered nor failed. */
function skippedToo({ skipped }: GateFacts): string {
  if (skipped === 0) return '';
  return skipped === 1 ? ' (1 item was skipped)' : ` (${skipped} items were skipped)`;
}

/** Tells of items whose answers cannot be compared. */
function changedToo({ changed }: GateFacts): string {
  return changed === 0
    ? ''
    : `; not compared are ${changed} items that the dataset's versions of both have differently`;
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
