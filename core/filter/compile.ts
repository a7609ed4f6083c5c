/**
 * Compiles filters to SQL. Names come from the table of fields or are bound; values are always bound. A missing value is
 * null in SQL, and each operator treats null as the contract says (see compare.ts).
 *
 * The API reads under row-level security, where Postgres uses an index only through operators that are leakproof:
 * comparisons of text, timestamps, booleans, float8 and int4/int8 are; numeric, `like` and every operator of jsonb are
 * not. Hence operands have the column's own type, and properties, which are jsonb, have an index of hashes, which
 * key-source.ts reads.
 */
import { compare, compareWhole } from './compare.ts';
import type { Field } from './fields.ts';
import { bodyText, bodyValue, inputValue, type Narrowing } from './json-value.ts';
import type { Comparison, Filter, Leaf } from './nodes.ts';
import type { Parameters } from './parameters.ts';
import { compareLargeByPattern, isByPattern } from './pattern.ts';

/** Options of the SQL for a filter. */
export type CompileOptions = {
  /**
   * True to look scores up by a join with their table: right for a statement that visits every match, such as a count.
   * Wrong for a page: Postgres expects next to no rows from such a join, and no longer walks the index in order.
   */
  joins: boolean;
  /**
   * Writes a condition on a time, which the statement also puts on the times of `r`. Bodies and scores are looked up under it, so
   * that Postgres plans for the weeks of these requests: without it, it plans for every week that there is, which takes longer
   * than a few look-ups.
   */
  within?: (createdAt: string) => string;
};

type Context = CompileOptions & { parameters: Parameters };

/**
 * Writes the condition that a row of `assay.requests r` must meet, binding its values to `parameters`; `true` when every
 * row does. It may be null instead of false.
 */
export function compileFilter(filter: Filter, parameters: Parameters, options: CompileOptions): string {
  return compileNode(filter, { ...options, parameters });
}

function compileNode(filter: Filter, context: Context): string {
  switch (filter.kind) {
    case 'all':
      return 'true';
    case 'leaf':
      return compileLeaf(filter, context);
    case 'branch': {
      // A join helps only for a condition that every match must meet; beside an "or" it would be a look-up for each row.
      const inner = filter.operator === 'or' ? { ...context, joins: false } : context;
      return `(${compileNode(filter.left, inner)} ${filter.operator} ${compileNode(filter.right, inner)})`;
    }
  }
}

function compileLeaf({ field, comparison }: Leaf, { parameters, joins, within }: Context): string {
  const narrowed = (createdAt: string) => (within === undefined ? '' : ` and ${within(createdAt)}`);
  switch (field.kind) {
    case 'whole-number':
      return compareWhole(`r.${field.column}`, field, comparison, parameters);
    case 'column':
      return compareColumn(`r.${field.column}`, field.type, comparison, parameters);
    case 'body':
      return compareLarge(bodyText(field.column, narrowed), 'text', comparison, parameters);
    case 'property':
      return compare(
        `(r.properties_folded ->> ${parameters.bind(field.name, 'text')})`,
        'text',
        comparison,
        parameters,
      );
    case 'score':
      return compareScore(field.key, comparison, parameters, { joins, narrowed });
    case 'body-value': {
      const value = bodyValue(field.column, field.path, comparison.operand, parameters, narrowed);
      return compareLarge(value.expression, value.sqlType, comparison, parameters);
    }
    case 'input': {
      const value = inputValue(field.name, comparison.operand, parameters);
      return compareLarge(value.expression, value.sqlType, comparison, parameters);
    }
  }
}

function compareColumn(
  column: string,
  type: Extract<Field, { kind: 'column' }>['type'],
  comparison: Comparison,
  parameters: Parameters,
): string {
  if (type !== 'timestamp') return compare(column, type, comparison, parameters);
  return compare(column, 'timestamptz', comparison, parameters, (ms) => new Date(Number(ms)).toISOString());
}

/**
 * Compares a body, or a value of one. Numbers are compared as doubles, as the operand is one: of an id of 64 bits, which is stored
 * with all of its digits, the operand has fewer. They are bound by their decimal text, of which Postgres makes the same double.
 */
function compareLarge(
  expression: string,
  sqlType: string,
  comparison: Comparison,
  parameters: Parameters,
): string {
  if (isByPattern(comparison)) return compareLargeByPattern(expression, comparison, parameters);
  return compare(expression, sqlType, comparison, parameters, (operand) =>
    typeof operand === 'number' ? String(operand) : operand,
  );
}

/** Compares a score; a missing one is null, like a column's value. */
function compareScore(
  key: string,
  comparison: Comparison,
  parameters: Parameters,
  { joins, narrowed }: { joins: boolean; narrowed: Narrowing },
): string {
  const rows =
    'from assay.request_scores s where s.organization_id = r.organization_id ' +
    'and s.created_at = r.created_at and s.request_id = r.request_id ' +
    `and s.key = ${parameters.bind(key, 'text')}${narrowed('s.created_at')}`;
  const isNegative = comparison.operator.startsWith('not-') || comparison.operand === null;
  if (!joins || isNegative)
    return compare(`(select s.value ${rows})`, 'float8', comparison, parameters, String);
  return `exists (select ${rows} and ${compare('s.value', 'float8', comparison, parameters, String)})`;
}
