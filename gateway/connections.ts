/** The gateway's connections to Postgres: a pool for each kind of work, so that none of them keeps another waiting. */
import { connectPostgres } from '#platform/postgres/mod.ts';
import type { StopStep } from '#platform/process/lifecycle.ts';

/** Connections of each pool. */
const POSTGRES_CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 5_000;

/** Opens all pools, which connect when they are first used; `connectLimits` connects that of limits. `closing` ends them. */
export function openConnections(url: string) {
  const connect = (applicationName: string) =>
    connectPostgres({
      url,
      max: POSTGRES_CONNECTIONS,
      applicationName,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  /** Keys, ids and prompts. */
  const sql = connect('assay-gateway');
  const limitsSql = connect('assay-limits');
  /** Stored responses. */
  const cacheSql = connect('assay-cache');
  const closing: StopStep = {
    what: 'closing Postgres',
    run: async () => {
      await Promise.all([sql, limitsSql, cacheSql].map((pool) => pool.end({ timeout: 1 })));
    },
  };
  return {
    sql,
    limitsSql,
    cacheSql,
    /** Connecting takes longer than the first calls after a start should wait. */
    connectLimits: async () => {
      await Promise.all(Array.from({ length: POSTGRES_CONNECTIONS }, () => limitsSql`select 1`));
    },
    closing,
  };
}
