/** SQL for one comparison with an expression of a known type. */

import { wholeBounds } from './decimal.ts';
import type { WholeNumberField } from './fields.ts';
import type { Comparison } from './nodes.ts';
import type { Parameters, SqlValue } from './parameters.ts';
import { compareByPattern } from './pattern.ts';

const SQL_OPERATORS = { gte: '>=', lte: '<=', gt: '>', lt: '<' } as const;
const POSITIVE = { 'not-gte': 'gte', 'not-lte': 'lte', 'not-gt': 'gt', 'not-lt': 'lt' } as const;

/**
 * Writes the comparison of an expression. `null` means missing, so `not-equals` is written as `is distinct from` and every
 * other `not-` operator as `is not true`, exact complements; every other comparison with a missing value is null, which no
 * branch and no `where` takes for true.
 *
 * @param operandOf returns the operand as it is bound; by default unchanged
 */
export function compare(
  expression: string,
  sqlType: string,
  comparison: Comparison,
  parameters: Parameters,
  operandOf: (operand: string | number | boolean) => SqlValue = (operand) => operand,
): string {
  const bind = (operand: string | number | boolean) => parameters.bind(operandOf(operand), sqlType);
  switch (comparison.operator) {
    case 'equals':
      if (comparison.operand === null) return `${expression} is null`;
      return `${expression} = ${bind(comparison.operand)}`;
    case 'not-equals':
      if (comparison.operand === null) return `${expression} is not null`;
      return `${expression} is distinct from ${bind(comparison.operand)}`;
    case 'like':
    case 'not-like':
    case 'ilike':
    case 'not-ilike':
    case 'contains':
    case 'not-contains':
      return compareByPattern(expression, comparison, parameters);
    case 'not-gte':
    case 'not-lte':
    case 'not-gt':
    case 'not-lt': {
      const operator = SQL_OPERATORS[POSITIVE[comparison.operator]];
      return `(${expression} ${operator} ${bind(comparison.operand)}) is not true`;
    }
    default:
      return `${expression} ${SQL_OPERATORS[comparison.operator]} ${bind(comparison.operand)}`;
  }
}

const RANGES = {
  int4: { min: -(2n ** 31n), max: 2n ** 31n - 1n },
  int8: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
} as const;

/**
 * Writes the exact comparison of a column of whole numbers with any number. The operand gets the column's own type, so that
 * the column's index can be used: more than 12.5 is more than 12, and operands out of the column's range are decided here.
 */
export function compareWhole(
  expression: string,
  field: WholeNumberField,
  comparison: Comparison,
  parameters: Parameters,
): string {
  const { operand } = comparison;
  if (typeof operand !== 'number') return compare(expression, field.sqlType, comparison, parameters);
  const { min, max } = RANGES[field.sqlType];
  const { floor, ceil } = wholeBounds(operand, field.scale);
  const whole = (operator: string, value: bigint) =>
    `${expression} ${operator} ${parameters.bind(value.toString(), field.sqlType)}`;
  const present = `${expression} is not null`;
  switch (comparison.operator) {
    case 'gt':
      return floor >= max ? 'false' : floor < min ? present : whole('>', floor);
    case 'gte':
      return ceil > max ? 'false' : ceil <= min ? present : whole('>=', ceil);
    case 'lt':
      return ceil <= min ? 'false' : ceil > max ? present : whole('<', ceil);
    case 'lte':
      return floor < min ? 'false' : floor >= max ? present : whole('<=', floor);
    case 'not-gte':
    case 'not-lte':
    case 'not-gt':
    case 'not-lt': {
      const positive = { operator: POSITIVE[comparison.operator], operand };
      return `(${compareWhole(expression, field, positive, parameters)}) is not true`;
    }
    default: {
      const isPossible = floor === ceil && floor >= min && floor <= max;
      if (comparison.operator === 'equals') return isPossible ? whole('=', floor) : 'false';
      return isPossible ? whole('is distinct from', floor) : 'true';
    }
  }
}
