/** Ids that callers choose, claimed in Postgres so that none is used twice. */

import { claimRequestId } from '#platform/keys/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';

/** How long a call waits for its claim: many times what Postgres takes, less than a client notices. */
const PATIENCE_MS = 1_000;
/** After a claim that could not be made, how long none is tried: they would pile up before a Postgres that is silent. */
const AWAY_MS = 1_000;

/** Claims an id for an organization; false when it has used it before. */
export type ReserveRequestId = (organizationId: string, requestId: string) => Promise<boolean>;

/**
 * Makes what claims ids. While Postgres is away, refuses or is silent, they are taken on trust: a call is worth more
 * than a refused repetition.
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
