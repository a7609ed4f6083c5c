/** The size of a gateway's prefetch from a counter. */

/**
 * Prefetch horizon while several gateways run. Shorter, and the next lease arrives after this one is spent; longer, and
 * one gateway keeps credits that the others lack.
 */
const SHARED_HORIZON_MS = 50;
/**
 * Prefetch horizon of a gateway that runs alone. No other gateway lacks the credits, but those of a killed process
 * count as used until they leave the window: hence no more than a second's worth.
 */
const LONE_HORIZON_MS = 1_000;

/**
 * Returns how many credits to ask for beyond those needed now. The counter grants at most its remaining quota divided by
 * twice the number of gateways, so that near the quota every call is decided by the counter.
 * @param callsPerSecond as measured
 */
export function prefetchSize(callsPerSecond: number, gateways: number, widthMs: number): number {
  const horizonMs = Math.min(widthMs, gateways > 1 ? SHARED_HORIZON_MS : LONE_HORIZON_MS);
  return Math.floor((callsPerSecond * horizonMs) / 1000);
}
