/** The pace of recomputation: little work while it is in time, more as it falls behind. Pure. */

/** Share of one core that recomputation takes, measured by the time of its transactions: usually, and when it is far behind. */
const USUAL_DUTY = 0.05;
const MOST_DUTY = 0.3;
/**
 * Waiting time of the oldest due bucket, as a multiple of the time that such a bucket may wait: up to which the usual duty
 * holds, and from which on the most. Queries read the rows of what is not recomputed, which on a busy machine slows
 * recomputation down further: without more duty, it would never catch up.
 */
const LATE = 2;
const FAR_BEHIND = 4;
const LEAST_REST_MS = 1_000;
const LEAST_REST_WHEN_LATE_MS = 100;
/** A longer rest would leave queries without roll-ups. */
const LONGEST_REST_MS = 120_000;

/**
 * Returns the rest after a transaction, in milliseconds.
 * @param workedMs its duration; 0: there was nothing to do
 * @param lateness waiting time of the oldest due bucket, as a multiple of the time that it may wait
 */
export function restMs(workedMs: number, lateness: number): number {
  const behind = Math.min(Math.max((lateness - LATE) / (FAR_BEHIND - LATE), 0), 1);
  const duty = USUAL_DUTY + behind * (MOST_DUTY - USUAL_DUTY);
  const least = lateness > LATE ? LEAST_REST_WHEN_LATE_MS : LEAST_REST_MS;
  return Math.min(Math.max(workedMs * (1 / duty - 1), least), LONGEST_REST_MS);
}
