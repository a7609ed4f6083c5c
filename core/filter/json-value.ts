/** SQL for places in a body and for prompt input variables: JSON of any type, compared by the type of the operand. */
import type { BodyColumn } from './fields.ts';
import type { Operand } from './nodes.ts';
import type { Parameters } from './parameters.ts';

/** Writes a further condition on a time, beginning with `and`; an empty text where there is none. */
export type Narrowing = (createdAt: string) => string;

/** Writes the row of bodies that belongs to request `r`. */
function bodyOfRequest(narrowed: Narrowing): string {
  return (
    'from assay.bodies b where b.organization_id = r.organization_id ' +
    `and b.created_at = r.created_at and b.request_id = r.request_id${narrowed('b.created_at')}`
  );
}

/**
 * Writes the text of a body. The scalar subquery is a look-up by primary key for each request that meets the other
 * conditions, so no plan reads bodies first.
 */
export function bodyText(column: BodyColumn, narrowed: Narrowing): string {
  return `(select b.${column} ${bodyOfRequest(narrowed)})`;
}

/** Names that `#>` would take for an index of an array: counted from its end, or written unusually. */
const ODD_INDEX = /^(?:\s*[+-]\s*\d|\s+\d|0\d)/;

/** Writes the value at `path` below `node`: names in objects, whole numbers from 0 in arrays. */
function follow(node: string, path: readonly string[], parameters: Parameters): string {
  let expression = node;
  let plain: string[] = [];
  const flush = () => {
    if (plain.length > 0) expression = `(${expression} #> ${parameters.bind(plain, 'text[]')})`;
    plain = [];
  };
  for (const segment of path) {
    if (ODD_INDEX.test(segment)) {
      flush();
      expression = `(${expression} -> ${parameters.bind(segment, 'text')})`;
    } else {
      plain.push(segment);
    }
  }
  flush();
  return expression;
}

/**
 * Writes a node that is a number as a double. Those that are too large for one, or too small, are made infinite and 0, as JSON is read
 * by programs: Postgres would refuse the whole query for the sake of one logged body.
 */
const DOUBLE = `
  case when abs(v.node::numeric) < 5e-324 then 0 when abs(v.node::numeric) <= ${Number.MAX_VALUE} then v.node::float8
    else sign(v.node::numeric)::float8 * 'infinity'::float8 end`;

/** Writes a node as a value of the operand's type; null when it has another type, or is JSON's null. */
function typed(operand: Operand): { expression: string; sqlType: string } {
  switch (typeof operand) {
    case 'string':
      return {
        expression: "case jsonb_typeof(v.node) when 'string' then v.node #>> '{}' end",
        sqlType: 'text',
      };
    case 'number':
      return {
        expression: `case jsonb_typeof(v.node) when 'number' then ${DOUBLE} end`,
        sqlType: 'float8',
      };
    case 'boolean':
      return {
        expression: "case jsonb_typeof(v.node) when 'boolean' then v.node::boolean end",
        sqlType: 'boolean',
      };
    default:
      return { expression: "nullif(jsonb_typeof(v.node), 'null')", sqlType: 'text' };
  }
}

/** An expression with its SQL type. */
export type Typed = { expression: string; sqlType: string };

/**
 * Writes a place in a body as a value of the operand's type. A value of another type counts as missing: it equals nothing,
 * and `not-equals` and `not-contains` are true of it. `offset 0` keeps Postgres from parsing the body twice.
 */
export function bodyValue(
  column: BodyColumn,
  path: readonly string[],
  operand: Operand,
  parameters: Parameters,
  narrowed: Narrowing,
): Typed {
  const { expression, sqlType } = typed(operand);
  const node = follow(`b.${column}::jsonb`, path, parameters);
  return {
    expression: `(select ${expression} from (select ${node} as node ${bodyOfRequest(narrowed)} offset 0) v)`,
    sqlType,
  };
}

/** Writes a prompt input variable as a value of the operand's type; another type counts as missing. */
export function inputValue(name: string, operand: Operand, parameters: Parameters): Typed {
  const { expression, sqlType } = typed(operand);
  const node = `r.inputs -> ${parameters.bind(name, 'text')}`;
  return { expression: `(select ${expression} from (select ${node} as node offset 0) v)`, sqlType };
}
