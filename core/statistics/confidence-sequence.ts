/** Interim looks at an experiment that do not make false alarms more frequent. */
import { type BoundedDifferences, bettingInterval, isBoundAbove } from './betting.ts';
import { finiteProduct, scaleFor } from './scale.ts';
import type { Direction } from './verdict.ts';
import type { Interval } from './wilson.ts';

/** Pairs between two looks, and before the first. */
export const PEEK_EVERY = 25;

/** What a look decides: `futile` when the difference is certainly less than the margin either way. */
export type Decision = 'better' | 'worse' | 'futile' | 'continue';

export type PeekOptions = {
  alpha: number;
  direction: Direction;
  /** Differences smaller than this do not matter, in units of the metric; null: the experiment is never futile. */
  margin: number | null;
  /** The smallest and largest value of the metric, such as 0 and 1 for scores; null when it has none. */
  range: { low: number; high: number } | null;
};

/** The interval at a look, null while there is none, and what it decides. */
export type Peek = {
  decision: Decision;
  interval: Interval | null;
  method: 'betting' | 'asymptotic';
};

/** Answers whether the lower and the upper bound lie beyond a value, and gives both. */
type Bounds = {
  isAbove(value: number): boolean;
  isBelow(value: number): boolean;
  interval(): Interval | null;
};

/**
 * Pairs at which the asymptotic sequence is narrowest. With 25, the first look, it is a tenth wider from 200 pairs on; with
 * more, early looks at large differences decide later.
 */
const TUNED_FOR = 50;

/**
 * Differences that must carry the variance before the asymptotic sequence decides, counted as (Σe²)²/Σe⁴ of deviations e: n/3
 * of normal ones, the number of discordant pairs of rare ones. Without it, 9 % of experiments whose difference is rare and
 * one-sided raise a false alarm, and 10 % of lognormal ones (27 % with a sigma of 1.5); with 15, the latter 7 %; with 20, all
 * less than 4 %, and large normal differences are found after 75 pairs instead of 50.
 */
const LEAST_EFFECTIVE = 20;
/** Relative difference of values that rounding explains. */
const CLOSE = 1e-12;

/**
 * Returns t·ρ² of the boundary that is narrowest at t: y − 1, where y − ln y = 1 − ln α². Waudby-Smith et al. give the same
 * by the Lambert W function (appendix on the choice of ρ).
 */
function narrowest(alpha: number): number {
  const constant = 1 - 2 * Math.log(alpha);
  let y = constant;
  // Converges by a factor of 1/y a step.
  for (let step = 0; step < 50; step += 1) y = constant + Math.log(y);
  return y - 1;
}

/**
 * Returns half the width of the asymptotic sequence of variables with a standard deviation of 1 after `count` of them:
 * √(2 (tρ² + 1) / (t² ρ²) · ln(√(tρ² + 1) / α)), formula 7 of I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and
 * A. Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024.
 * @internal Exported so that a test compares it with a mixture that is integrated numerically.
 */
export function standardWidth(count: number, alpha: number): number {
  const scaled = (count * narrowest(alpha)) / TUNED_FOR;
  return Math.sqrt((2 * (scaled + 1) * Math.log(Math.sqrt(scaled + 1) / alpha)) / (count * scaled));
}

function asymptoticBounds(differences: ArrayLike<number>, alpha: number): Bounds {
  const count = differences.length;
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += differences[index]!;
  const mean = sum / count;
  let [squares, fourths, largest] = [0, 0, 0];
  for (let index = 0; index < count; index += 1) {
    const square = (differences[index]! - mean) ** 2;
    squares += square;
    fourths += square * square;
    largest = Math.max(largest, Math.abs(differences[index]!));
  }
  // Equal differences deviate by rounding alone, and say nothing about the variance.
  const isSpread = squares > count * (CLOSE * largest) ** 2;
  const isReady = isSpread && squares ** 2 >= LEAST_EFFECTIVE * fourths;
  const width = isReady ? standardWidth(count, alpha) * Math.sqrt(squares / (count - 1)) : Number.NaN;
  return {
    isAbove: (value) => mean - width > value,
    isBelow: (value) => mean + width < value,
    interval: () => (isReady ? { low: mean - width, high: mean + width } : null),
  };
}

function bettingBounds(differences: BoundedDifferences, alpha: number): Bounds {
  return {
    isAbove: (value) => isBoundAbove(differences, alpha, 1, value),
    isBelow: (value) => isBoundAbove(differences, alpha, -1, -value),
    interval: () => bettingInterval(differences, alpha),
  };
}

function boundsOf(differences: ArrayLike<number>, { alpha, range }: PeekOptions): Bounds {
  const scale = range === null ? scaleFor(differences) : finiteProduct(range.high - range.low, 1);
  const scaled = Float64Array.from(differences, (difference) => difference / scale);
  const bounds = range === null ? asymptoticBounds(scaled, alpha) : bettingBounds(scaled, alpha);
  return {
    isAbove: (value) => bounds.isAbove(value / scale),
    isBelow: (value) => bounds.isBelow(value / scale),
    interval: () => {
      const interval = bounds.interval();
      return (
        interval && { low: finiteProduct(interval.low, scale), high: finiteProduct(interval.high, scale) }
      );
    },
  };
}

function decide(bounds: Bounds, { direction, margin }: PeekOptions): Decision {
  const isHigher = direction === 'higher';
  if (bounds.isAbove(0)) return isHigher ? 'better' : 'worse';
  if (bounds.isBelow(0)) return isHigher ? 'worse' : 'better';
  if (margin !== null && bounds.isAbove(-margin) && bounds.isBelow(margin)) return 'futile';
  return 'continue';
}

/**
 * Returns what the first pairs of an experiment decide, `continue` except after each 25. All looks together raise a false
 * alarm in a share α of experiments at most, so a decision may be acted on at once. Two sequences:
 * - of metrics with a smallest and a largest value, by betting (betting.ts): it holds for any distribution and any number of
 *   pairs. It decides as early as the other one.
 * - of others, the asymptotic one, once enough differences carry the variance. It promises α in the limit only: 4 % at most
 *   were measured (docs/benchmarks.md), with lognormal differences; those between two equal sides are symmetric, and raise
 *   fewer.
 * @param differences candidate less baseline, in the order in which items were run, which must be random. They are taken for
 * independent: of clusters, give one mean difference each.
 */
export function decisionOf(differences: ArrayLike<number>, options: PeekOptions): Decision {
  if (differences.length === 0 || differences.length % PEEK_EVERY !== 0) return 'continue';
  return decide(boundsOf(differences, options), options);
}

/** Returns the same with the interval, which is reported of an experiment that stopped early, or may have; at any length. */
export function peek(differences: ArrayLike<number>, options: PeekOptions): Peek {
  const method = options.range === null ? 'asymptotic' : 'betting';
  if (differences.length === 0) return { decision: 'continue', interval: null, method };
  return {
    decision: decisionOf(differences, options),
    interval: boundsOf(differences, options).interval(),
    method,
  };
}
