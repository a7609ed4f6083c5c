/**
 * Finds the requests of a page: their keys, in order. The records are read by key (load.ts), so that a deep offset walks
 * only an index.
 */

import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { conditionOf, fromFound } from './conditions.ts';
import type { RequestKey } from './find-keys.ts';
import type { RequestQuery, Sort } from './query.ts';
import { SORT_COLUMNS } from './sort-columns.ts';
import { findOrderedSource, findShortSource } from './sources.ts';
import { runStatement } from './statement.ts';

/** Finds the keys of a query's page, in order. */
export async function findPageKeys(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
): Promise<RequestKey[]> {
  const source = (await findShortSource(tx, organizationId, query)) ?? findOrderedSource(query);
  return runStatement<RequestKey>(tx, pageKeysStatement(organizationId, query, source));
}

/** Selects the page's keys in order: created_at, request_id. */
function pageKeysStatement(organizationId: string, query: RequestQuery, source: KeySource | null): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const limit = parameters.bind(query.limit, 'int8');
  const offset = parameters.bind(query.offset, 'int8');
  const page = `limit ${limit} offset ${offset}`;
  const column = SORT_COLUMNS[query.sort.field];
  let text: string;
  if (source === null && query.sort.field !== 'created_at' && query.sort.direction === 'asc') {
    const condition = conditionOf(query, organization, parameters, { joins: false });
    text = ascending(condition, column, `limit ${limit} + ${offset}`, page);
  } else {
    const columns = `r.request_id, r.${column}`;
    const from = fromFound(query, source, { organization, parameters, columns, joins: false });
    const table = source?.yields === 'keys' ? 'k' : 'r';
    text = `select ${table}.created_at, ${table}.request_id ${from} order by ${orderBy(query.sort, table)} ${page}`;
  }
  return { text, values: parameters.values };
}

/** Sorts nulls last in both directions, and ties by id, so that pages neither overlap nor skip. */
function orderBy({ field, direction }: Sort, table: 'r' | 'k'): string {
  if (field === 'created_at') return `${table}.created_at ${direction}, ${table}.request_id ${direction}`;
  return `r.${SORT_COLUMNS[field]} ${direction} nulls last, r.request_id ${direction}`;
}

/**
 * Sorts in ascending order. The indexes hold values in descending order with nulls last; read backwards, nulls come first.
 * So requests with a value and requests without one are each read backwards, and then joined in order.
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
