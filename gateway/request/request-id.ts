/** Reserves the request ids that callers choose, in Postgres, so that none is used twice. */

import { reserveRequestId } from '#platform/keys/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createAvailability, isPassing, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';

/** Longest wait of a call for its reservation: many times what Postgres takes, less than a client notices. */
const PATIENCE_MS = 1_000;
/** Pause after a reservation that failed: more of them would pile up before a silent Postgres. */
const PAUSE_MS = 1_000;

/** Reserves an id for an organization; resolves with false when the organization used it before. */
export type ReserveRequestId = (organizationId: string, requestId: string) => Promise<boolean>;

/**
 * Makes the function that reserves ids. While Postgres is away, refuses or is silent, ids are taken on trust: a call is
 * worth more than a refused repetition.
 */
export function createRequestIdReservations({
  sql,
  clock,
  log,
}: {
  sql: Sql;
  clock: Pick<Clock, 'monotonic'>;
  log: Logger;
}): ReserveRequestId {
  const store = createAvailability({ clock, patienceMs: PATIENCE_MS, recovery: { pauseMs: PAUSE_MS } });
  return async (organizationId, requestId) => {
    if (store.isAway()) return true;
    try {
      return await store.attempt(() => reserveRequestId(sql, organizationId, requestId));
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.warn({ requestId }, 'cannot check whether a request id was used before');
      return true;
    }
  };
}
