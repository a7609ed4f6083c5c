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

/**
 * Returns the 95 % interval of Cohen's kappa from its asymptotic variance (J. L. Fleiss, J. Cohen and B. S. Everitt,
 * Psychological Bulletin 72, 1969, formula 13), kept within -1 and 1. Null when kappa is, and when the variance is 0: then
 * all verdicts agree, or none does, and the formula would claim certainty from any number of ratings.
 */
export function kappaInterval(confusion: Confusion): Interval | null {
  const kappa = kappaOf(confusion);
  const total = totalOf(confusion);
  if (kappa === null) return null;
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
  // Rounding may leave a little more or less than 0.
  if (!(variance > Number.EPSILON / total)) return null;
  const spread = Z95 * Math.sqrt(variance);
  return { low: Math.max(-1, kappa - spread), high: Math.min(1, kappa + spread) };
}

/** Returns the share of responses that people call good that the evaluator passes. */
export function truePositiveRate({ truePositive, falseNegative }: Confusion): Rate | null {
  return rateOf(truePositive, truePositive + falseNegative);
}

/** Returns the share of responses that people call bad that the evaluator fails. */
export function trueNegativeRate({ trueNegative, falsePositive }: Confusion): Rate | null {
  return rateOf(trueNegative, trueNegative + falsePositive);
}
