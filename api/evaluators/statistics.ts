/** How far a judge can be trusted, by what people said of the same answers. Pure. */

/** A share with its 95 % confidence interval, all from 0 to 1. */
export type Rate = { value: number; low: number; high: number };

/** An evaluator's verdict against people's: the first word says whether the evaluator was right, the second what it said. */
export type Confusion = {
  truePositive: number;
  falsePositive: number;
  falseNegative: number;
  trueNegative: number;
};

/** The 97.5 % point of the standard normal distribution. */
const Z = 1.959963984540054;

/**
 * The share of `successes` in `total` with Wilson's score interval (E. B. Wilson 1927; method 3 of R. G. Newcombe,
 * Statistics in Medicine 17, 1998): sound for few samples and near 0 and 1, where the textbook interval is not. Null of
 * none.
 */
export function rateOf(successes: number, total: number): Rate | null {
  if (total === 0) return null;
  const value = successes / total;
  const square = Z * Z;
  const centre = (value + square / (2 * total)) / (1 + square / total);
  const spread =
    (Z / (1 + square / total)) * Math.sqrt((value * (1 - value)) / total + square / (4 * total * total));
  return {
    value,
    // At the ends the interval touches 0 and 1 exactly; rounding would miss them by a little.
    low: successes === 0 ? 0 : Math.max(0, centre - spread),
    high: successes === total ? 1 : Math.min(1, centre + spread),
  };
}

/** How many were compared. */
export function totalOf(confusion: Confusion): number {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  return truePositive + falsePositive + falseNegative + trueNegative;
}

/** The share of verdicts that agree; null of none. */
export function accuracyOf(confusion: Confusion): number | null {
  const total = totalOf(confusion);
  return total === 0 ? null : (confusion.truePositive + confusion.trueNegative) / total;
}

/**
 * Cohen's kappa: agreement beyond what chance would give, 1 at most (J. Cohen, Educational and Psychological Measurement
 * 20, 1960). Null when both always say the same one thing: then chance explains everything.
 */
export function cohensKappa(confusion: Confusion): number | null {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  const total = totalOf(confusion);
  const observed = truePositive + trueNegative;
  // Counts times the total, so that what is equal is found equal.
  const expected =
    (truePositive + falsePositive) * (truePositive + falseNegative) +
    (falseNegative + trueNegative) * (falsePositive + trueNegative);
  if (total === 0 || expected === total * total) return null;
  return (observed * total - expected) / (total * total - expected);
}

/** Of what people call good, the share that the evaluator passes. */
export function truePositiveRate({ truePositive, falseNegative }: Confusion): Rate | null {
  return rateOf(truePositive, truePositive + falseNegative);
}

/** Of what people call bad, the share that the evaluator fails. */
export function trueNegativeRate({ trueNegative, falsePositive }: Confusion): Rate | null {
  return rateOf(trueNegative, trueNegative + falsePositive);
}

/**
 * The pass rate that people would have found, from the one that a judge found and how often it errs: Rogan and Gladen's
 * estimator (American Journal of Epidemiology 107, 1978), kept within 0 and 1. Null when the judge is no better than
 * chance, as then its verdicts say nothing.
 */
export function correctedPassRate(
  passRate: number,
  truePositive: number,
  trueNegative: number,
): number | null {
  const falsePositive = 1 - trueNegative;
  const skill = truePositive - falsePositive;
  if (!(skill > 0)) return null;
  return Math.min(1, Math.max(0, (passRate - falsePositive) / skill));
}
