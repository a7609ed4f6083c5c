/** Measures of trust in a judge, by people's ratings of the same responses. */
import { cohensKappa } from './agreement.ts';
import { Z95 } from './normal.ts';
import { type Interval, type Rate, rateOf } from './wilson.ts';

/** Counts of an evaluator's verdicts against people's: the first word is whether it was right, the second its verdict. */
export type Confusion = {
  truePositive: number;
  falsePositive: number;
  falseNegative: number;
  trueNegative: number;
};

/** Returns the number of compared verdicts. */
export function totalOf(confusion: Confusion): number {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  return truePositive + falsePositive + falseNegative + trueNegative;
}

/** Returns the share of verdicts that agree; null when there are none. */
export function accuracyOf(confusion: Confusion): number | null {
  const total = totalOf(confusion);
  return total === 0 ? null : (confusion.truePositive + confusion.trueNegative) / total;
}

/** Returns Cohen's kappa; null without verdicts, and when both always give the same one: then chance explains everything. */
export function kappaOf(confusion: Confusion): number | null {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  return cohensKappa([
    [truePositive, falsePositive],
    [falseNegative, trueNegative],
  ]).value;
}

/** Counts that are added to each cell of a table before the interval of its kappa. */
const PSEUDO_COUNT = 1;

/**
 * Returns the asymptotic standard error of Cohen's kappa (J. L. Fleiss, J. Cohen and B. S. Everitt, Psychological Bulletin 72,
 * 1969, formula 13).
 */
function kappaError(confusion: Confusion, kappa: number): number {
  const total = totalOf(confusion);
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  // Shares that the evaluator passes and fails, and that people call good and bad.
  const passed = (truePositive + falsePositive) / total;
  const good = (truePositive + falseNegative) / total;
  const [failed, bad] = [1 - passed, 1 - good];
  const expected = passed * good + failed * bad;
  const rest = 1 - kappa;
  const agreeing =
    (truePositive / total) * (1 - (passed + good) * rest) ** 2 +
    (trueNegative / total) * (1 - (failed + bad) * rest) ** 2;
  const differing =
    rest ** 2 *
    ((falsePositive / total) * (good + failed) ** 2 + (falseNegative / total) * (bad + passed) ** 2);
  const variance = (agreeing + differing - (kappa - expected * rest) ** 2) / (total * (1 - expected) ** 2);
  return Math.sqrt(Math.max(0, variance));
}

/**
 * Returns the 95 % interval of Cohen's kappa, kept within -1 and 1 and around the estimate: the asymptotic one of a table with
 * one more count in each cell, as A. Agresti and B. Caffo do for proportions (The American Statistician 54, 2000). Without
 * them it misses the true kappa in 10 % of tables of 100 ratings in the mean, in half of those in which nearly all is good,
 * and claims certainty where all verdicts agree; with them in 6 % at most from 20 ratings on, at nearly the same width. Null
 * when kappa is.
 */
export function kappaInterval(confusion: Confusion): Interval | null {
  const kappa = kappaOf(confusion);
  if (kappa === null) return null;
  const added = {
    truePositive: confusion.truePositive + PSEUDO_COUNT,
    falsePositive: confusion.falsePositive + PSEUDO_COUNT,
    falseNegative: confusion.falseNegative + PSEUDO_COUNT,
    trueNegative: confusion.trueNegative + PSEUDO_COUNT,
  };
  // No cell is empty, so there is one.
  const centre = kappaOf(added)!;
  const spread = Z95 * kappaError(added, centre);
  return {
    low: Math.min(kappa, Math.max(-1, centre - spread)),
    high: Math.max(kappa, Math.min(1, centre + spread)),
  };
}

/** Returns the share of responses that people call good that the evaluator passes. */
export function truePositiveRate({ truePositive, falseNegative }: Confusion): Rate | null {
  return rateOf(truePositive, truePositive + falseNegative);
}

/** Returns the share of responses that people call bad that the evaluator fails. */
export function trueNegativeRate({ trueNegative, falsePositive }: Confusion): Rate | null {
  return rateOf(trueNegative, trueNegative + falsePositive);
}
