import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

/** Erases requests of an organization in a transaction that is open, as the API does. */
export async function eraseIn(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<{ erased: number; known: number }> {
  await tx`select set_config('assay.organization', ${organizationId}, true)`;
  const [row] = await tx<{ erased: number; known: number }[]>`
    select erased, known from assay.erase_requests(${[...requestIds]}::text[], null)`;
  return row!;
}

/** Erases requests of an organization. */
export async function erase(sql: Sql, organizationId: string, ...requestIds: string[]) {
  return await sql.begin((tx) => eraseIn(tx, organizationId, requestIds));
}

/** Returns how many connections to this database wait for a lock. */
export async function waitingForLocks(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`;
  return row!.count;
}
