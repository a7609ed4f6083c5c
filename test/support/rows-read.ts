/** What statements read, by the counters of their own transaction: those of tables get what other sessions did at any later time. */
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

export type RowsRead = {
  /** Rows of tables that were read from start to end. */
  scanned: number;
  /** These, and rows that an index led to. */
  all: number;
};

/**
 * Returns the rows that `work` reads of some tables, in one transaction: those that it begins are parts of it.
 * @param tables a regular expression of their names
 */
export async function rowsRead(
  sql: Sql,
  tables: string,
  work: (sql: Sql) => Promise<unknown>,
): Promise<RowsRead> {
  const counted = await sql.begin(async (tx) => {
    const begin = (...given: unknown[]) => tx.savepoint(given.at(-1) as (tx: TransactionSql) => unknown);
    const inside = new Proxy(tx, {
      get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
    });
    await work(inside as unknown as Sql);
    const [row] = await tx<[RowsRead]>`
      select coalesce(sum(seq_tup_read), 0)::int4 as scanned,
             coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int4 as all
        from pg_stat_xact_user_tables where schemaname = 'assay' and relname ~ ${tables}`;
    return row;
  });
  return counted as RowsRead;
}
