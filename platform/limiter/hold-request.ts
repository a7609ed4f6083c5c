import { randomUUID } from 'node:crypto';
import { prefetchSize } from '#core/rate-limit/mod.ts';
import { type Account, localBalance, measureDemand } from './account.ts';
import type { HoldRequest } from './counter-store.ts';

/** Demand is measured over no less. */
const LEAST_MEASURE_MS = 1_000;
/** A hold that fewer usual calls could draw from saves less than it takes from others. */
const LEAST_CALLS_AHEAD = 8;

/** Returns what is asked of the store: the estimates of the calls that wait, and as much ahead of need as pays. */
export function buildHoldRequest(
  account: Account,
  estimatesNano: readonly number[],
  { now, gateways, takesAhead }: { now: number; gateways: number; takesAhead: boolean },
): HoldRequest {
  const asked = measureDemand(account, now, LEAST_MEASURE_MS);
  const calls = takesAhead ? prefetchSize(asked, gateways, account.shape.widthMs) : 0;
  const aheadNano = calls < LEAST_CALLS_AHEAD ? 0 : Math.floor(calls * account.averageEstimateNano);
  return {
    reservationId: randomUUID(),
    estimatesNano,
    // One call of unusual size does not make what is there too little.
    prefetchNano: localBalance(account, now) > aheadNano / 2 ? 0 : aheadNano,
    minPrefetchNano: Math.floor(LEAST_CALLS_AHEAD * account.averageEstimateNano),
    shares: 2 * gateways,
  };
}
