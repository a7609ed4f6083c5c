import type { Sql, TransactionSql } from '../postgres/mod.ts';

/** Lag of a sink behind the changes. */
export type SinkLag = {
  name: string;
  /** `new`: it has not started yet. `behind`: the feed has dropped changes that it had not applied; it resumes by a scan. */
  state: 'new' | 'running' | 'behind';
  /** Failures in a row. */
  failures: number;
  /** Error of its last failure; null after a success. */
  lastError: string | null;
  /** Time at which it last applied something, or failed. */
  updatedAt: Date;
  /** Time at which it last resumed by a scan. */
  resumedAt: Date | null;
  /** Age of the oldest change that it has not applied, in milliseconds; 0 when there is none. */
  lagMs: number;
  /** Changes that it has not applied, counted up to 10,000. */
  changes: number;
};

const MOST_COUNTED = 10_000;

/** Reads the lags of all sinks, in the order of their names. The role of the API may call it. */
export async function readSinkLags(sql: Sql | TransactionSql): Promise<SinkLag[]> {
  return await sql<SinkLag[]>`
    select name, state, failures, last_error as "lastError", updated_at as "updatedAt", resumed_at as "resumedAt",
           lag_ms::float8 as "lagMs", changes
      from assay.sink_lags(${MOST_COUNTED})`;
}
