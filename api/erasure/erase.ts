import type { TransactionSql } from '#platform/postgres/mod.ts';

/** Numbers of requests: erased by this call, and erased by it or before. */
export type Erased = { erased: number; known: number };

/**
 * Erases requests of the transaction's organization with all that belongs to them; see platform/postgres/functions/erasure.sql.
 * @param keyId the API key that asked for it
 */
export async function eraseRequests(
  tx: TransactionSql,
  requestIds: readonly string[],
  keyId: string | null,
): Promise<Erased> {
  const [row] = await tx<Erased[]>`
    select erased, known from assay.erase_requests(${[...requestIds]}::text[], ${keyId}::uuid)`;
  return row!;
}

/** Requests that one transaction erases. Ingest of the organization waits for it: more, and it waits noticeably. */
export const PAGE = 100;

/**
 * Erases the calls that experiments made of items from these requests, a page at a time. The erasure of the requests erases them,
 * too, and would take long where there are many.
 * @param inTransaction runs work of the organization's in a transaction of its own
 */
export async function eraseCopies(
  inTransaction: <Result>(work: (tx: TransactionSql) => Promise<Result>) => Promise<Result>,
  requestIds: readonly string[],
  keyId: string | null,
): Promise<void> {
  for (;;) {
    const { erased } = await inTransaction(async (tx) => {
      const copies = await findCopies(tx, requestIds);
      return copies.length === 0 ? { erased: 0 } : await eraseRequests(tx, copies, keyId);
    });
    if (erased === 0) return;
  }
}

async function findCopies(tx: TransactionSql, requestIds: readonly string[]): Promise<string[]> {
  // Those that are stored: a call under way gets its tombstone with the requests.
  const rows = await tx<{ id: string }[]>`
    select id from (select current_setting('assay.organization')::uuid as organization) own
     cross join lateral assay.calls_of_items_from(organization, ${[...requestIds]}::text[]) as id
     where exists (select from assay.requests q where q.organization_id = organization and q.request_id = id)
     limit ${PAGE}`;
  return rows.map(({ id }) => id);
}
