import type { Sql, TransactionSql } from '../postgres/mod.ts';

/** How far a sink is behind the changes. */
export type SinkLag = {
  name: string;
  /** `new`: it has not come up yet. `behind`: the feed has dropped changes that it missed; it comes up by a scan. */
  state: 'new' | 'running' | 'behind';
  /** Failures in a row. */
  failures: number;
  /** Why it failed last, since it last succeeded. */
  lastError: string | null;
  /** When it last applied something, or failed. */
  updatedAt: Date;
  /** When it last came up by a scan. */
  resumedAt: Date | null;
  /** Age of the oldest change that it has not applied, in milliseconds; 0 when there is none. */
  lagMs: number;
  /** Changes that it has not applied, counted up to 10,000. */
  changes: number;
};

const MOST_COUNTED = 10_000;

/** Reads how far each sink is behind, in the order of their names. The role of the API may call it. */
export async function readSinkLags(sql: Sql | TransactionSql): Promise<SinkLag[]> {
  return await sql<SinkLag[]>`
    select name, state, failures, last_error as "lastError", updated_at as "updatedAt", resumed_at as "resumedAt",
           lag_ms::float8 as "lagMs", changes
      from assay.sink_lags(${MOST_COUNTED})`;
}
