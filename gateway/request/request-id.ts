/** Reserves the request ids that callers choose, in Postgres, so that none is used twice. */

import { claimRequestId } from '#platform/keys/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';

/** How long a call waits for its reservation: many times what Postgres takes, less than a client notices. */
const PATIENCE_MS = 1_000;
/** Pause after a reservation that failed: more of them would pile up before a silent Postgres. */
const AWAY_MS = 1_000;

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
  let awayUntil = Number.NEGATIVE_INFINITY;
  const trust = (requestId: string) => {
    awayUntil = clock.monotonic() + AWAY_MS;
    log.warn({ requestId }, 'cannot check whether a request id was used before');
    return true;
  };
  return async (organizationId, requestId) => {
    if (clock.monotonic() < awayUntil) return true;
    const claim = claimRequestId(sql, organizationId, requestId);
    try {
      return (await settlesWithin(claim, PATIENCE_MS)) ? await claim : trust(requestId);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      return trust(requestId);
    }
  };
}
