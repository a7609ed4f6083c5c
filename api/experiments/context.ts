import type { Prices } from '#core/experiments/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';

/** The parts that the work on experiments needs. */
export type Context = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  prices: Prices;
};
