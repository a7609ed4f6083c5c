import { Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { pageKeysStatement } from './page-keys.ts';
import type { RequestQuery, Sort } from './query.ts';
import { SORT_COLUMNS } from './sort-columns.ts';
import { findOrderedSource, findShortSource } from './sources.ts';
import { runStatement } from './statement.ts';

/** The key of a request in the store. */
export type RequestKey = { created_at: Date; request_id: string };

/** Finds the keys of a query's page, in order. */
export async function findPageKeys(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
): Promise<RequestKey[]> {
  const source = (await findShortSource(tx, organizationId, query)) ?? findOrderedSource(query);
  return runStatement<RequestKey>(tx, pageKeysStatement(organizationId, query, source));
}

/** The key of a request, and its value of a sort as text; null where it has none, or the sort is by time. */
export type SortedKey = RequestKey & { value: string | null };

/** Writes the value of a `SortedKey`, of a request `r`. */
export function sortValue({ field }: Sort): string {
  return field === 'created_at' ? 'null' : `r.${SORT_COLUMNS[field]}::text`;
}

/** Finds a request's key and its value in a sort; null: the organization has no such request. */
export async function findSortedKey(
  tx: TransactionSql,
  organizationId: string,
  sort: Sort,
  requestId: string,
): Promise<SortedKey | null> {
  const parameters = new Parameters();
  const text =
    `select r.created_at, r.request_id, ${sortValue(sort)} as value from assay.requests r ` +
    `where r.organization_id = ${parameters.bind(organizationId, 'uuid')} ` +
    `and r.request_id = ${parameters.bind(requestId, 'text')} order by r.created_at desc limit 1`;
  const [key] = await runStatement<SortedKey>(tx, { text, values: parameters.values });
  return key ?? null;
}

/** Selects the keys of the requests with these ids, the newest first. */
function keysOfIdsStatement(organizationId: string, requestIds: readonly string[]): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  return {
    text:
      `select created_at, request_id from assay.requests where organization_id = ${organization} ` +
      `and request_id = any(${parameters.bind(requestIds, 'text[]')}) order by created_at desc`,
    values: parameters.values,
  };
}

/** Finds the keys of those ids that the organization has, each once, in the order of the ids. */
export async function findKeysOfIds(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<RequestKey[]> {
  const wanted = [...new Set(requestIds)];
  const found = await runStatement<RequestKey>(tx, keysOfIdsStatement(organizationId, wanted));
  const byId = new Map<string, RequestKey>();
  for (const key of found) if (!byId.has(key.request_id)) byId.set(key.request_id, key);
  return wanted.flatMap((requestId) => byId.get(requestId) ?? []);
}
