/**
 * Lists of keys straight from an index, for leaves whose number of matches Postgres misjudges: it has no statistics on how
 * properties and scores go with requests, and poor ones on the ends of a range. A statement that trusts its estimate walks
 * a million rows in order to find three. So a query for a page first checks whether one of these lists is short.
 */
import { hashProperty } from '../contracts/properties.ts';
import { compare, compareWhole } from './compare.ts';
import type { WholeNumberField } from './fields.ts';
import { ALL, type Comparison, type Filter, type Leaf } from './nodes.ts';
import type { Parameters } from './parameters.ts';

/** Columns of `assay.requests` with an index by value, and its order: an `order by` of it keeps the plan on the index. */
const RANGE_INDEXES: ReadonlyMap<string, string> = new Map([
  ['status', 'r.status, r.created_at, r.request_id'],
  ['latency_ms', 'r.latency_ms desc nulls last, r.request_id desc'],
  ['cost_nano', 'r.cost_nano desc nulls last, r.request_id desc'],
  ['total_tokens', 'r.total_tokens desc nulls last, r.request_id desc'],
  ['feedback_created_at', 'r.feedback_created_at, r.request_id'],
]);

/** Columns with an index of the rows in which they are not null, and its order. */
const PRESENCE_INDEXES: ReadonlyMap<string, string> = new Map([
  ['user_id', 'r.user_id, r.created_at, r.request_id'],
  ['prompt_id', 'r.prompt_id, r.created_at, r.request_id'],
  ['session_id', 'r.session_id, r.created_at, r.request_id'],
  ['error_code', 'r.error_code, r.created_at, r.request_id'],
  ['feedback_rating', 'r.feedback_rating, r.created_at, r.request_id'],
  ['feedback_created_at', 'r.feedback_created_at, r.request_id'],
]);

/** Columns by which Postgres finds rows unaided: it has an index and the frequencies of their values. */
export const EQUALITY_INDEXES: ReadonlySet<string> = new Set([
  'request_id',
  'user_id',
  'request_model',
  'response_model',
  'model',
  'api_key_id',
  'error_code',
  'status',
  'feedback_rating',
  'prompt_id',
  'session_id',
]);

/** Returns the leaves that every match must pass. */
function requiredLeaves(filter: Filter): Leaf[] {
  if (filter.kind === 'leaf') return [filter];
  if (filter.kind === 'all' || filter.operator === 'or') return [];
  return [...requiredLeaves(filter.left), ...requiredLeaves(filter.right)];
}

function isPresence({ operator, operand }: Comparison): boolean {
  return operator === 'not-equals' && operand === null;
}

function isRange({ operator }: Comparison): boolean {
  return operator === 'gte' || operator === 'lte' || operator === 'gt' || operator === 'lt';
}

function isKeySource({ field, comparison }: Leaf): boolean {
  const isEqual = comparison.operator === 'equals' && comparison.operand !== null;
  switch (field.kind) {
    case 'property':
      return isEqual;
    case 'score':
      return isEqual || isRange(comparison) || isPresence(comparison);
    case 'whole-number':
      if (!RANGE_INDEXES.has(field.column)) return false;
      return isRange(comparison) || (field.column === 'status' && comparison.operator === 'not-equals');
    case 'column':
      if (isPresence(comparison)) return PRESENCE_INDEXES.has(field.column);
      return RANGE_INDEXES.has(field.column) && (isEqual || isRange(comparison));
    default:
      return false;
  }
}

/** Returns the required leaves whose matches an index can list. */
export function keySourcesOf(filter: Filter): Leaf[] {
  return requiredLeaves(filter).filter(isKeySource);
}

/**
 * Returns the property by whose index the matches can be walked in order of time; null when there is none, or when
 * Postgres had better start from a column.
 */
export function propertyToWalk(filter: Filter): Leaf | null {
  if (hasIndexedValue(filter)) return null;
  return requiredLeaves(filter).find((leaf) => leaf.field.kind === 'property' && isKeySource(leaf)) ?? null;
}

/** Returns whether Postgres finds the matches by the index of a column of which they all have one value. */
export function hasIndexedValue(filter: Filter): boolean {
  return requiredLeaves(filter).some(
    ({ field, comparison }) =>
      (field.kind === 'column' || field.kind === 'whole-number') &&
      comparison.operator === 'equals' &&
      EQUALITY_INDEXES.has(field.column),
  );
}

/** Returns the rest of a filter when one of its required leaves is known to hold. */
function withoutLeaf(filter: Filter, leaf: Leaf): Filter {
  if (filter === leaf) return ALL;
  if (filter.kind !== 'branch' || filter.operator === 'or') return filter;
  return { ...filter, left: withoutLeaf(filter.left, leaf), right: withoutLeaf(filter.right, leaf) };
}

/** The statement that a list of requests is written into. */
export type Listing = {
  parameters: Parameters;
  /** The organization's placeholder. */
  organization: string;
  /** The end of each select, such as `limit 1001`. */
  tail: string;
  /** The direction of time, for a list in the order of time. */
  direction: 'asc' | 'desc';
  /**
   * Writes a condition on `created_at` and `request_id` of a table, which all listed requests must meet; null, or absent:
   * there is none.
   */
  bound?(table: string): string | null;
};

/** Returns a bound as the end of a where-clause. */
export function boundOf({ bound }: Pick<Listing, 'bound'>, table: string): string {
  const condition = bound?.(table) ?? null;
  return condition === null ? '' : ` and ${condition}`;
}

/** Requests from an index. */
export type KeySource = {
  /** `keys`: created_at and request_id. `rows`: all columns of `assay.requests`. */
  readonly yields: 'keys' | 'rows';
  /** The filter that the listed requests must still pass. */
  readonly rest: Filter;
  /**
   * The most requests that are faster fetched and sorted than found by walking an index until a page is full; with a
   * thousand matches in a million rows, that walk finds ten among 10,000. With far fewer, rare values cost a walk over
   * all rows; with far more, common values cost their look-ups.
   */
  readonly few: number;
  /** Writes the `select`, in the index's order. */
  compile(listing: Listing): string;
};

/**
 * Limits of `few`. Keys are read from an index alone, rows from all over the table. A walk that checks scores takes several
 * times as long for each row.
 */
const FEW_KEYS = 1_000;
export const FEW_ROWS = 500;

/** Returns the source of a leaf that `keySourcesOf` has returned. */
export function keySource(filter: Filter, leaf: Leaf): KeySource {
  const { field, comparison } = leaf;
  switch (field.kind) {
    case 'property': {
      const { name } = field;
      // The leaf is still checked: two properties may have the same hash.
      return {
        yields: 'keys',
        rest: filter,
        few: FEW_KEYS,
        compile: (listing) => propertyKeys(name, comparison, listing),
      };
    }
    case 'score': {
      const { key } = field;
      const rest = withoutLeaf(filter, leaf);
      return {
        yields: 'keys',
        rest,
        few: FEW_KEYS,
        compile: (listing) => scoreKeys(key, comparison, listing),
      };
    }
    case 'whole-number':
      return {
        yields: 'rows',
        rest: filter,
        few: FEW_ROWS,
        compile: (listing) => wholeNumberRows(field, comparison, listing),
      };
    case 'column': {
      const { column } = field;
      return {
        yields: 'rows',
        rest: filter,
        few: FEW_ROWS,
        compile: (listing) => columnRows(column, comparison, listing),
      };
    }
    default:
      throw new Error(`No index lists the matches of a leaf of kind ${field.kind}`);
  }
}

function propertyKeys(name: string, comparison: Comparison, listing: Listing): string {
  const { parameters, organization, tail, direction } = listing;
  const hash = parameters.bind(hashProperty(name, String(comparison.operand)).toString(), 'int8');
  return (
    `select p.created_at, p.request_id from assay.request_properties p where p.organization_id = ${organization} ` +
    `and p.pair_hash = ${hash}${boundOf(listing, 'p')} order by p.created_at ${direction}, p.request_id ${direction} ${tail}`
  );
}

function scoreKeys(key: string, comparison: Comparison, listing: Listing): string {
  const { parameters, organization, tail } = listing;
  const name = parameters.bind(key, 'text');
  const condition = compare('s.value', 'float8', comparison, parameters, String);
  return (
    `select s.created_at, s.request_id from assay.request_scores s where s.organization_id = ${organization} ` +
    `and s.key = ${name} and ${condition}${boundOf(listing, 's')} order by s.value, s.created_at, s.request_id ${tail}`
  );
}

function wholeNumberRows(field: WholeNumberField, comparison: Comparison, listing: Listing): string {
  const column = `r.${field.column}`;
  const order = RANGE_INDEXES.get(field.column) ?? '';
  const rows = (condition: string) => requestRows(condition, order, listing);
  if (comparison.operator !== 'not-equals')
    return rows(compareWhole(column, field, comparison, listing.parameters));
  const { operand } = comparison;
  if (operand === null) return rows(`${column} is not null`);
  // Unequal values are below or above: two ranges of the index.
  const side = (operator: 'lt' | 'gt') =>
    rows(compareWhole(column, field, { operator, operand: Number(operand) }, listing.parameters));
  return `(${side('lt')}) union all (${side('gt')}) ${listing.tail}`;
}

function columnRows(column: string, comparison: Comparison, listing: Listing): string {
  const order = (isPresence(comparison) ? PRESENCE_INDEXES : RANGE_INDEXES).get(column) ?? '';
  const moment = (ms: string | number | boolean) => new Date(Number(ms)).toISOString();
  const condition = compare(`r.${column}`, 'timestamptz', comparison, listing.parameters, moment);
  return requestRows(condition, order, listing);
}

/** Selects requests that meet a condition, in an order. */
export function requestRows(condition: string, order: string, listing: Listing): string {
  return (
    `select r.* from assay.requests r where r.organization_id = ${listing.organization} ` +
    `and ${condition}${boundOf(listing, 'r')} order by ${order} ${listing.tail}`
  );
}
