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
