/**
 * Lists of keys straight from an index, for leaves whose number of matches Postgres misjudges: it knows nothing of how
 * properties and scores go with requests, and little of the ends of a range. A statement that trusts its estimate walks
 * a million rows in order to find three. So whoever pages asks first whether one of these lists is short.
 */
import { hashProperty } from '../contracts/properties.ts';
import { compare, compareWhole } from './compare.ts';
import type { WholeNumberField } from './fields.ts';
import { ALL, type Comparison, type Filter, type Leaf } from './nodes.ts';
import type { Parameters } from './parameters.ts';

/** Columns of `assay.requests` with an index by value, and its order: asking for it keeps the plan on the index. */
const RANGE_INDEXES: ReadonlyMap<string, string> = new Map([
  ['status', 'r.status, r.created_at, r.request_id'],
  ['latency_ms', 'r.latency_ms desc nulls last, r.request_id desc'],
  ['cost_nano', 'r.cost_nano desc nulls last, r.request_id desc'],
  ['total_tokens', 'r.total_tokens desc nulls last, r.request_id desc'],
  ['feedback_created_at', 'r.feedback_created_at, r.request_id'],
]);

/** Columns with an index of the rows that have them. */
const PRESENCE_INDEXES: ReadonlyMap<string, string> = new Map([
  ['user_id', 'r.user_id, r.created_at, r.request_id'],
  ['prompt_id', 'r.prompt_id, r.created_at, r.request_id'],
  ['feedback_rating', 'r.feedback_rating, r.created_at, r.request_id'],
  ['feedback_created_at', 'r.feedback_created_at, r.request_id'],
]);

/** Columns by which Postgres finds rows on its own, and whose frequencies it knows. */
const EQUALITY_INDEXES: ReadonlySet<string> = new Set([
  'request_id',
  'user_id',
  'request_model',
  'response_model',
  'status',
  'feedback_rating',
  'prompt_id',
]);

/** The leaves that every match must pass. */
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

/** The required leaves whose matches an index can list. */
export function keySourcesOf(filter: Filter): Leaf[] {
  return requiredLeaves(filter).filter(isKeySource);
}

/**
 * The property by whose index the matches can be walked in order of time, when there is no column that Postgres would
 * better start from.
 */
export function propertyToWalk(filter: Filter): Leaf | null {
  const leaves = requiredLeaves(filter);
  const startsElsewhere = leaves.some(
    ({ field, comparison }) =>
      (field.kind === 'column' || field.kind === 'whole-number') &&
      comparison.operator === 'equals' &&
      EQUALITY_INDEXES.has(field.column),
  );
  if (startsElsewhere) return null;
  return leaves.find((leaf) => leaf.field.kind === 'property' && isKeySource(leaf)) ?? null;
}

/** What is left of a filter when one of its required leaves is known to hold. */
function withoutLeaf(filter: Filter, leaf: Leaf): Filter {
  if (filter === leaf) return ALL;
  if (filter.kind !== 'branch' || filter.operator === 'or') return filter;
  return { ...filter, left: withoutLeaf(filter.left, leaf), right: withoutLeaf(filter.right, leaf) };
}

/** Where a list of requests goes into a statement. */
export type Listing = {
  parameters: Parameters;
  /** The organization's placeholder. */
  organization: string;
  /** What ends each select, such as `limit 1001`. */
  tail: string;
  /** Of time, for a list in the order of time. */
  direction: 'asc' | 'desc';
};

/** Requests from an index. */
export type KeySource = {
  /** `keys`: created_at and request_id. `rows`: all of `assay.requests`. */
  readonly yields: 'keys' | 'rows';
  /** What the requests it lists must still pass. */
  readonly rest: Filter;
  /**
   * Up to so many requests, it is quicker to fetch them all and sort them than to walk an index until a page is full,
   * which finds ten of a thousand matches in a million among 10,000 rows. Far lower, rare values cost a walk over
   * everything; far higher, common ones cost their look-ups.
   */
  readonly few: number;
  /** The `select`, in the index's order. */
  compile(listing: Listing): string;
};

/**
 * Keys come from an index alone, and rows from all over the table. A walk that looks at scores takes several times as
 * long a row.
 */
const FEW_KEYS = 1_000;
const FEW_ROWS = 500;

/** The source that a leaf of `keySourcesOf` makes. */
export function keySource(filter: Filter, leaf: Leaf): KeySource {
  const { field, comparison } = leaf;
  switch (field.kind) {
    case 'property': {
      const { name } = field;
      // The leaf stays to be checked: the hashes of two properties may be the same.
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
      throw new Error(`No index lists what a ${field.kind} matches`);
  }
}

function propertyKeys(
  name: string,
  comparison: Comparison,
  { parameters, organization, tail, direction }: Listing,
): string {
  const hash = parameters.bind(hashProperty(name, String(comparison.operand)).toString(), 'int8');
  return (
    `select p.created_at, p.request_id from assay.request_properties p where p.organization_id = ${organization} ` +
    `and p.pair_hash = ${hash} order by p.created_at ${direction}, p.request_id ${direction} ${tail}`
  );
}

function scoreKeys(key: string, comparison: Comparison, { parameters, organization, tail }: Listing): string {
  const name = parameters.bind(key, 'text');
  const condition = compare('s.value', 'float8', comparison, parameters, String);
  return (
    `select s.created_at, s.request_id from assay.request_scores s where s.organization_id = ${organization} ` +
    `and s.key = ${name} and ${condition} order by s.value, s.created_at, s.request_id ${tail}`
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
  // Unequal is below or above: two ranges of the index.
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

function requestRows(condition: string, order: string, { organization, tail }: Listing): string {
  return `select r.* from assay.requests r where r.organization_id = ${organization} and ${condition} order by ${order} ${tail}`;
}
