import { randomUUID } from 'node:crypto';
import { prefetchSize } from '#core/rate-limit/mod.ts';
import { type Account, localBalance, measureDemand } from './account.ts';
import type { HoldRequest } from './counter-store.ts';

/** Shortest period over which demand is measured. */
const MIN_DEMAND_PERIOD_MS = 1_000;
/** Smallest useful prefetch, in average calls. Below this a hold costs other gateways more than it saves this one. */
const MIN_PREFETCHED_CALLS = 8;

/** Builds the request for a hold: the estimates of the calls that wait, and as much prefetch as pays. */
export function buildHoldRequest(
  account: Account,
  estimatesNano: readonly number[],
  { now, gateways, prefetches }: { now: number; gateways: number; prefetches: boolean },
): HoldRequest {
  const callsPerSecond = measureDemand(account, now, MIN_DEMAND_PERIOD_MS);
  const calls = prefetches ? prefetchSize(callsPerSecond, gateways, account.shape.widthMs) : 0;
  const prefetchNano = calls < MIN_PREFETCHED_CALLS ? 0 : Math.floor(calls * account.averageEstimateNano);
  return {
    reservationId: randomUUID(),
    estimatesNano,
    // One unusually large call must not replace a hold that is still large enough for the others.
    prefetchNano: localBalance(account, now) > prefetchNano / 2 ? 0 : prefetchNano,
    minPrefetchNano: Math.floor(MIN_PREFETCHED_CALLS * account.averageEstimateNano),
    shares: 2 * gateways,
  };
}
