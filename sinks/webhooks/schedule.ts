/** Schedule of a delivery's attempts. Pure. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The waits before each attempt, the first of which is made at once: the schedule that Standard Webhooks gives as an
 * example. The last attempt is made after 75 hours and 35 minutes.
 * @internal Exported so that a test holds it against the standard's.
 */
export const RETRY_WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Up to this share is added to each wait, so that deliveries that failed together do not come back together. */
const JITTER = 0.2;

/** Upper bound on the wait that a receiver can ask for. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR_MS;

/**
 * Returns the wait before the next attempt, in whole milliseconds; null after the last one of the schedule.
 * @param attempts made so far, the failed one included
 * @param retryAfterMs what the receiver asked for; it can make the wait longer, never shorter
 * @param random returns a number in [0, 1)
 */
export function nextWaitMs(
  attempts: number,
  retryAfterMs: number | null,
  {
    waitsMs = RETRY_WAITS_MS,
    random = Math.random,
  }: { waitsMs?: readonly number[]; random?: () => number } = {},
): number | null {
  const waitMs = waitsMs[attempts];
  if (waitMs === undefined) return null;
  const asked = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return Math.round(Math.max(waitMs * (1 + JITTER * random()), asked));
}

/** The longest wait before each attempt that is not asked for by a receiver, in milliseconds. */
export const LONGEST_WAITS_MS: readonly number[] = RETRY_WAITS_MS.map((waitMs) => waitMs * (1 + JITTER));

/** Longest time for which one answer holds back the other deliveries of its webhook. */
export const LONGEST_REST_MS = HOUR_MS;
/** The rest of a receiver that answered 429 without saying how long. */
const USUAL_REST_MS = 5 * SECOND_MS;

/** Returns the time after an answer during which no delivery of its webhook is attempted, in milliseconds; 0: no rest. */
export function restMs(status: number | null, retryAfterMs: number | null): number {
  if (status === 429) return Math.min(retryAfterMs ?? USUAL_REST_MS, LONGEST_REST_MS);
  return status === 503 ? Math.min(retryAfterMs ?? 0, LONGEST_REST_MS) : 0;
}
