import type { ApiKey } from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';

/** The parts that the work on grades needs. */
export type Context = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
};

/** The API key that a call is made with. */
export type Caller = Pick<ApiKey, 'keyId' | 'organizationId'>;
