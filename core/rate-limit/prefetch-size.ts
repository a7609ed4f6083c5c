/** How far ahead of need a gateway takes from a counter. */

/**
 * With others about: long enough that the next lease is there before this one is spent, and no longer, because what one
 * holds the others lack.
 */
const SHARED_HORIZON_MS = 50;
/** Alone, nobody lacks it; a second, because what a killed process held counts as used until it leaves the window. */
const LONE_HORIZON_MS = 1_000;

/**
 * How many credits to ask for beyond those needed now. The counter gives no more than its rest divided by twice the
 * number of gateways, so that near the quota everyone goes one by one.
 * @param demand asks a second, as measured
 */
export function prefetchSize(demand: number, gateways: number, widthMs: number): number {
  const horizonMs = Math.min(widthMs, gateways > 1 ? SHARED_HORIZON_MS : LONE_HORIZON_MS);
  return Math.floor((demand * horizonMs) / 1000);
}
