import { Parameters } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findKey, keyCondition, type RequestKey } from './find-keys.ts';
import type { Sort } from './query.ts';
import { SORT_COLUMNS } from './sort-columns.ts';
import { runStatement } from './statement.ts';

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
  const key = await findKey(tx, organizationId, requestId);
  if (key === null) return null;
  const parameters = new Parameters();
  const text =
    `select r.created_at, r.request_id, ${sortValue(sort)} as value from assay.requests r ` +
    `where ${keyCondition(parameters, organizationId, key)}`;
  const [sorted] = await runStatement<SortedKey>(tx, { text, values: parameters.values });
  return sorted ?? null;
}
