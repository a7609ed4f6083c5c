/** The verdict of a comparison. */
import type { Interval } from './wilson.ts';

/** The better direction of a metric. */
export type Direction = 'higher' | 'lower';

/**
 * `better` and `worse`: the candidate differs from the baseline beyond noise. `not_worse`: whatever it loses is less than the
 * margin. `undecided`: the data do not say.
 */
export type Verdict = 'better' | 'worse' | 'not_worse' | 'undecided';

export type VerdictInput = {
  /** Confidence interval of the difference, candidate less baseline; null when it cannot be computed. */
  interval: Interval | null;
  /** The difference that every single pair has, where that is why there is no interval; null or absent: they differ. */
  shared?: number | null;
  /** p value of the same difference, adjusted if several tests are read together. */
  pValue: number;
  alpha: number;
  /** The largest loss that is accepted, in units of the metric, at least 0; null: none is. */
  margin: number | null;
  /** True when the loss is certainly less than a margin that is itself an estimate; absent: the interval tells. */
  isWithinMargin?: boolean;
  direction: Direction;
};

/** Returns an interval as gains of the candidate, whatever the direction of its metric. */
function gains({ low, high }: Interval, direction: Direction): Interval {
  return direction === 'higher' ? { low, high } : { low: -high, high: -low };
}

/**
 * Returns the verdict of an interval and a p value, the first of these that holds:
 * - `better`: the interval lies above 0 and p ≤ alpha. Both are asked because they come from different methods, or because p
 *   is adjusted for several metrics: so a verdict never contradicts the interval, nor the p beside it.
 * - `not_worse`: there is a margin and the interval lies above −margin. It comes before `worse`: a loss that is certain and
 *   less than the margin is what the margin allows. It is one-sided and not adjusted for several metrics, because a release
 *   that must not be worse in any needs every single one (R. L. Berger's intersection-union test, Technometrics 24, 1982).
 * - `worse`: the interval lies below 0 and p ≤ alpha.
 * - `undecided` otherwise, and without an interval. But where every single pair has the same difference, its direction is
 *   certain as soon as p ≤ alpha: `better`, or `worse` unless the margin allows as much.
 */
export function verdictOf({
  interval,
  shared = null,
  pValue,
  alpha,
  margin,
  isWithinMargin,
  direction,
}: VerdictInput): Verdict {
  const isSignificant = pValue <= alpha;
  if (interval === null) {
    if (shared === null || !isSignificant) return 'undecided';
    const gain = direction === 'higher' ? shared : -shared;
    if (gain > 0) return 'better';
    return gain < 0 && gain <= -(margin ?? 0) ? 'worse' : 'undecided';
  }
  const gain = gains(interval, direction);
  if (isSignificant && gain.low > 0) return 'better';
  if (isWithinMargin ?? (margin !== null && gain.low > -margin)) return 'not_worse';
  return isSignificant && gain.high < 0 ? 'worse' : 'undecided';
}
