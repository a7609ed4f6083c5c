/**
 * Logarithmic histograms of positive whole numbers: bin n holds the values above γ^(n-1), up to γ^n, where γ is 1.02/0.98. The
 * value halfway, 2γ^n/(γ+1), differs from each of them by 2 % at most. As in Masson, Rim and Lee, "DDSketch" (VLDB 2019).
 */

/** The largest relative error of a value that is taken from its bin. */
export const RELATIVE_ERROR = 0.02;
const GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_GAMMA = Math.log(GAMMA);
/** The bin of 0 and of negative values, which count as 0. */
const ZERO_BIN = -1;

/**
 * Returns the bin of a whole number.
 * @internal Exported so that tests compare it with the SQL function assay.histogram_bin, which computes the bins of requests.
 */
export function binOf(value: number): number {
  return value > 0 ? Math.ceil(Math.log(value) / LOG_GAMMA) : ZERO_BIN;
}

/**
 * Returns the value that stands for those of a bin.
 * @internal Exported so that tests measure its error.
 */
export function valueOfBin(bin: number): number {
  return bin === ZERO_BIN ? 0 : (2 * GAMMA ** bin) / (GAMMA + 1);
}

/** Numbers of values by bin. */
export type Histogram = Map<number, number>;

/** Adds the counts of parallel arrays, as roll-ups have them, to a histogram. */
export function addBins(histogram: Histogram, bins: readonly number[], counts: readonly number[]): void {
  for (const [index, bin] of bins.entries()) {
    histogram.set(bin, (histogram.get(bin) ?? 0) + counts[index]!);
  }
}

/**
 * Returns the quantiles of a histogram; null without values. Between two values it is interpolated, like percentile_cont of
 * Postgres and numpy's default, whose result for the values themselves differs by `RELATIVE_ERROR` at most.
 * @param shares from 0 to 1
 */
export function quantilesOf(histogram: Histogram, shares: readonly number[]): (number | null)[] {
  const ascending = [...histogram].sort(([left], [right]) => left - right);
  const count = ascending.reduce((sum, [, inBin]) => sum + inBin, 0);
  const valueAt = (rank: number): number => {
    let passed = 0;
    for (const [bin, inBin] of ascending) {
      passed += inBin;
      if (passed > rank) return valueOfBin(bin);
    }
    return valueOfBin(ascending.at(-1)![0]);
  };
  return shares.map((share) => {
    if (count === 0) return null;
    const rank = share * (count - 1);
    const low = valueAt(Math.floor(rank));
    return low + (valueAt(Math.ceil(rank)) - low) * (rank - Math.floor(rank));
  });
}
