/**
 * Which requests are on a page: their keys, in order; what belongs to them is fetched by key (records.ts).
 * So a deep offset walks an index and nothing else.
 */

import type { SortField } from '#core/contracts/query.ts';
import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import { conditionOf } from './conditions.ts';
import type { RequestQuery, Sort } from './query.ts';

const SORT_COLUMNS: Readonly<Record<SortField, string>> = {
  created_at: 'created_at',
  latency: 'latency_ms',
  cost: 'cost_nano',
  tokens: 'total_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  time_to_first_token: 'ttft_ms',
};

/** The page's keys in order: created_at, request_id. */
export function pageKeysStatement(
  organizationId: string,
  query: RequestQuery,
  source: KeySource | null,
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const filter = source?.rest ?? query.filter;
  const condition = conditionOf({ ...query, filter }, organization, parameters, { joins: false });
  const limit = parameters.bind(query.limit, 'int8');
  const offset = parameters.bind(query.offset, 'int8');
  const page = `limit ${limit} offset ${offset}`;
  let text: string;
  if (source !== null) {
    const { direction } = query.sort;
    const listed = source.compile({ parameters, organization, tail: 'offset 0', direction });
    text = `${source.yields === 'keys' ? fromKeys(listed, condition, query.sort) : fromRows(listed, condition, query.sort)} ${page}`;
  } else if (query.sort.field !== 'created_at' && query.sort.direction === 'asc') {
    text = ascending(condition, SORT_COLUMNS[query.sort.field], `limit ${limit} + ${offset}`, page);
  } else {
    text =
      `select r.created_at, r.request_id from assay.requests r where ${condition} ` +
      `order by ${orderBy(query.sort, 'r')} ${page}`;
  }
  return { text, values: parameters.values };
}

/** Nulls last in both directions; ties by id, so that pages neither overlap nor skip. */
function orderBy({ field, direction }: Sort, table: 'r' | 'k'): string {
  if (field === 'created_at') return `${table}.created_at ${direction}, ${table}.request_id ${direction}`;
  return `r.${SORT_COLUMNS[field]} ${direction} nulls last, r.request_id ${direction}`;
}

/** `offset 0` fences both sides, so each key is looked up, one after the other, whatever Postgres expects. */
function fromKeys(keys: string, condition: string, sort: Sort): string {
  return (
    `select k.created_at, k.request_id from (${keys}) k cross join lateral (` +
    `select r.request_id, r.${SORT_COLUMNS[sort.field]} from assay.requests r ` +
    `where r.created_at = k.created_at and r.request_id = k.request_id and ${condition} offset 0) r ` +
    `order by ${orderBy(sort, 'k')}`
  );
}

/** `rows` are fenced by their own `offset 0`. */
function fromRows(rows: string, condition: string, sort: Sort): string {
  return `select r.created_at, r.request_id from (${rows}) r where ${condition} order by ${orderBy(sort, 'r')}`;
}

/**
 * The indexes hold values in descending order with nulls last; read backwards, nulls come first. So those that have a
 * value and those that have none are each read backwards, and put in order.
 */
function ascending(condition: string, column: string, most: string, page: string): string {
  const part = (number: number, presence: string) =>
    `(select r.created_at, r.request_id, r.${column} as value, ${number} as part from assay.requests r ` +
    `where ${condition} and r.${column} ${presence} order by r.${column} asc nulls first, r.request_id asc ${most})`;
  return (
    `select k.created_at, k.request_id from (${part(0, 'is not null')} union all ${part(1, 'is null')}) k ` +
    `order by k.part, k.value, k.request_id ${page}`
  );
}
