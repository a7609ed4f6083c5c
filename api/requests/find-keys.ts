import { Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { pageKeysStatement } from './page-keys.ts';
import type { RequestQuery } from './query.ts';
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
