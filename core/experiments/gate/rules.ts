/** Reads the rules of a gate. Pure. */
import { quoteValue } from '../../contracts/check.ts';
import { BUILT_IN_METRICS, type BuiltInMetric } from '../../contracts/comparison.ts';
import { AssayError } from '../../contracts/errors.ts';

/** A size in the metric's own units, or as a share of the baseline's mean. */
export type Amount = { unit: 'absolute' | 'share'; value: number };

export type Operator = '<=' | '<' | '>=' | '>' | '=';

/** The test that a metric must pass. `times`: of the baseline's mean. */
export type RuleTest =
  | { kind: 'better' }
  | { kind: 'not-worse'; margin: Amount }
  | { kind: 'bound'; operator: Operator; unit: 'absolute' | 'share' | 'times'; value: number };

export type Rule = {
  /** As it was written. */
  text: string;
  /** A built-in metric, `UNGRADED`, or the name or the id of an evaluator. */
  metric: string;
  test: RuleTest;
};

/** The metric of rules on answers without a grade. It is counted for each score of the gate, and not compared. */
export const UNGRADED = 'ungraded';

/** Names of the metrics in rules, beside the own names of the built-in ones. */
const SHORT_NAMES: ReadonlyMap<string, BuiltInMetric | typeof UNGRADED> = new Map([
  ['cost', 'cost_usd'],
  ['latency', 'latency_ms'],
  ['tokens', 'tokens'],
  ['errors', 'errors'],
  ['ungraded', UNGRADED],
]);

/** A name that holds one of < > = stands in quotes. */
const RULE =
  /^(?:"(?<quoted>[^"]*)"|(?<plain>[^\s<>=](?:[^<>=]*[^\s<>=])?))(?:\s+(?<verdict>better|not-worse)(?:\s+(?<margin>\S+))?|\s*(?<operator><=|>=|<|>|=)\s*(?<bound>\S+))$/;
const AMOUNT = /^\$?(?<number>\d{1,15}(?:\.\d{1,15})?)(?<unit>x|%|ms|s)?$/;

const GRAMMAR =
  'a rule is a metric (cost, latency, tokens, errors, ungraded or the name of an evaluator) with "better", with "not-worse" and a margin, or with one of <= < >= > = and a number; a margin may be a share like 5%, and a number a multiple of the baseline like 1.1x';

/** Returns the error of a rule that breaks the grammar. */
function invalidRule(text: string, problem: string): AssayError {
  return new AssayError('invalid_body', `The rule ${quoteValue(text)} ${problem}: ${GRAMMAR}`);
}

function parseRule(written: string): Rule {
  const text = written.trim();
  const parts = RULE.exec(text)?.groups;
  if (parts === undefined) throw invalidRule(text, 'cannot be read');
  const metric = parts.quoted ?? metricOf(parts.plain!);
  const { verdict, margin, operator, bound } = parts;
  if (operator !== undefined)
    return { text, metric, test: readBound(text, metric, operator as Operator, bound!) };
  if (metric === UNGRADED) throw invalidRule(text, 'must bound the number or the share of such answers');
  if (verdict === 'better') {
    if (margin !== undefined) throw invalidRule(text, 'must not have a margin');
    return { text, metric, test: { kind: 'better' } };
  }
  if (margin === undefined) throw invalidRule(text, 'needs a margin, the largest loss that is accepted');
  const { unit, value } = readAmount(text, metric, margin);
  if (unit === 'times') throw invalidRule(text, 'has a margin that is a multiple');
  return { text, metric, test: { kind: 'not-worse', margin: { unit, value } } };
}

function metricOf(name: string): string {
  return SHORT_NAMES.get(name.toLowerCase()) ?? name;
}

function readBound(text: string, metric: string, operator: Operator, written: string): RuleTest {
  const { unit, value } = readAmount(text, metric, written);
  if (unit === 'share' && metric !== 'errors' && metric !== UNGRADED)
    throw invalidRule(text, 'has a share as its bound, which only errors and ungraded can have');
  return { kind: 'bound', operator, unit, value };
}

function readAmount(text: string, metric: string, written: string) {
  const parts = AMOUNT.exec(written)?.groups;
  if (parts === undefined) throw invalidRule(text, `has no number in ${quoteValue(written)}`);
  const value = Number(parts.number);
  switch (parts.unit) {
    case 'x':
      return { unit: 'times', value } as const;
    case '%':
      return { unit: 'share', value: value / 100 } as const;
    case 'ms':
    case 's':
      if (metric !== 'latency_ms') throw invalidRule(text, 'has a time, which only latency is');
      return { unit: 'absolute', value: parts.unit === 's' ? value * 1_000 : value } as const;
    default:
      return { unit: 'absolute', value } as const;
  }
}

/** The rule that stands in where none is about errors: answers that failed are in no other metric, and must not hide. */
const NO_ERRORS = 'errors = 0';

/**
 * Reads the rules of a gate, and adds that nothing fails unless one is about errors.
 * @throws AssayError invalid_body
 * @example parseRules(['helpful not-worse 0.02']) // [{ metric: 'helpful', test: { kind: 'not-worse', margin: … } }, …]
 */
export function parseRules(texts: readonly string[]): Rule[] {
  const rules = texts.map(parseRule);
  const margins = rules.filter(({ test }) => test.kind === 'not-worse').map(({ metric }) => metric);
  const twice = margins.find((metric, index) => margins.indexOf(metric) < index);
  if (twice !== undefined)
    throw new AssayError('invalid_body', `Two rules give ${quoteValue(twice)} a margin: one is enough`);
  const ungraded = rules.find(({ metric }) => metric === UNGRADED);
  if (ungraded !== undefined && !rules.some(isOnScores))
    throw invalidRule(ungraded.text, 'needs another rule, on an evaluator whose grades it counts');
  return rules.some(({ metric }) => metric === 'errors') ? rules : [...rules, parseRule(NO_ERRORS)];
}

function isOnScores({ metric }: Rule): boolean {
  return metric !== UNGRADED && !BUILT_IN_METRICS.some((name) => name === metric);
}
