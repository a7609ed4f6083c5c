/** The period before, moved onto the buckets of the range. Pure. */
import { type Buckets, bucketAt, middlesOf } from './buckets.ts';

/**
 * Returns for each bucket the value of the bucket of the period before at the same distance from its beginning; null where that
 * period was shorter, as February is than March.
 */
export function moveOnto(
  buckets: Buckets,
  before: Buckets,
  values: readonly (number | null)[],
): (number | null)[] {
  const distance = buckets.from - before.from;
  return middlesOf(buckets).map((middle, index) => {
    // The first and the last bucket reach beyond the range: what counts is the part inside.
    const inside = Math.min(Math.max(middle, buckets.from), buckets.to - 1);
    const moment = (index === 0 ? buckets.from : inside) - distance;
    return moment >= before.to ? null : (values[bucketAt(before, moment)] ?? null);
  });
}
