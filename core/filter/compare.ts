/** SQL for one comparison with an expression of a known type. */

import { wholeBounds } from './decimal.ts';
import type { WholeNumberField } from './fields.ts';
import type { Comparison } from './nodes.ts';
import type { Parameters, SqlValue } from './parameters.ts';

const SQL_OPERATORS = { gte: '>=', lte: '<=', gt: '>', lt: '<' } as const;

/**
 * Compares an expression. `null` stands for missing, so: `not-equals` is `is distinct from` and `not-contains` is
 * `is not true`, exact complements; every other comparison with a missing value is null, which no branch and no `where`
 * takes for true.
 *
 * @param operandOf the operand as it is bound; the default binds it as it is
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
      return `${expression} like ${bind(comparison.operand)}`;
    case 'ilike':
      return `${ignoringCase(expression)} ilike ${bind(comparison.operand)}`;
    case 'contains':
      return `${ignoringCase(expression)} ilike ${bind(literalPattern(comparison.operand))}`;
    case 'not-contains':
      return `(${ignoringCase(expression)} ilike ${bind(literalPattern(comparison.operand))}) is not true`;
    default:
      return `${expression} ${SQL_OPERATORS[comparison.operator]} ${bind(comparison.operand)}`;
  }
}

/** Columns are in collation "C", which knows the case of ASCII letters only; the database's own knows all. */
function ignoringCase(expression: string): string {
  return `${expression} collate "default"`;
}

/** A pattern that matches what contains `text`, whose `%`, `_` and `\` mean themselves. */
function literalPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

const RANGES = {
  int4: { min: -(2n ** 31n), max: 2n ** 31n - 1n },
  int8: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
} as const;

/**
 * Compares a column of whole numbers with any number, exactly, and with an operand of the column's own type, so that its
 * index serves: more than 12.5 is more than 12, and what no such column can hold is decided here.
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
    default: {
      const isPossible = floor === ceil && floor >= min && floor <= max;
      if (comparison.operator === 'equals') return isPossible ? whole('=', floor) : 'false';
      return isPossible ? whole('is distinct from', floor) : 'true';
    }
  }
}
