/** Measures how far a judge can be trusted, by people's ratings of the same responses. Pure. */

/** A share with its 95 % confidence interval, all from 0 to 1. */
export type Rate = { value: number; low: number; high: number };

/** The bounds of a 95 % confidence interval. */
export type Interval = { low: number; high: number };

/** Counts of an evaluator's verdicts against people's: the first word is whether it was right, the second its verdict. */
export type Confusion = {
  truePositive: number;
  falsePositive: number;
  falseNegative: number;
  trueNegative: number;
};

/** The 97.5 % point of the standard normal distribution. */
const Z = 1.959963984540054;

/**
 * Returns the share of `successes` in `total` with Wilson's score interval (E. B. Wilson 1927; method 3 of R. G. Newcombe,
 * Statistics in Medicine 17, 1998): sound for few samples and near 0 and 1, where the textbook interval is not. Null when
 * `total` is 0.
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

/**
 * Returns Cohen's kappa: agreement beyond chance, 1 at most (J. Cohen, Educational and Psychological Measurement 20, 1960).
 * Null when both always give the same verdict: then chance explains everything.
 */
export function cohensKappa(confusion: Confusion): number | null {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  const total = totalOf(confusion);
  const observed = truePositive + trueNegative;
  // Computed in counts times the total, so that equal values compare as equal.
  const expected =
    (truePositive + falsePositive) * (truePositive + falseNegative) +
    (falseNegative + trueNegative) * (falsePositive + trueNegative);
  if (total === 0 || expected === total * total) return null;
  return (observed * total - expected) / (total * total - expected);
}

/**
 * Returns the 95 % interval of Cohen's kappa from its asymptotic variance (J. L. Fleiss, J. Cohen and B. S. Everitt,
 * Psychological Bulletin 72, 1969, formula 13), kept within -1 and 1. Null when kappa is, and when the variance is 0: then
 * all verdicts agree, or none does, and the formula would claim certainty from any number of ratings.
 */
export function kappaInterval(confusion: Confusion): Interval | null {
  const kappa = cohensKappa(confusion);
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
  const spread = Z * Math.sqrt(variance);
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

/**
 * Estimates the pass rate that people would have found from a judge's pass rate and its errors: Rogan and Gladen's estimator
 * (American Journal of Epidemiology 107, 1978), kept within 0 and 1. Null when the judge is no better than chance, because
 * its verdicts then carry no information.
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

/** Counts that a pass rate is corrected with: all scores, and those of requests that people rated. */
export type Correction = { passed: number; scored: number; confusion: Confusion };

/**
 * Returns the 95 % interval of the corrected pass rate (Zs. Lang and J. Reiczigel, Preventive Veterinary Medicine 113, 2014,
 * formulas 6, 7, 16 and 17), kept within 0 and 1 and around the estimate. The delta method alone covers too little with few
 * ratings, and nothing when all ratings agree; this one adds pseudo-counts and a shift. It takes scores and ratings for
 * independent samples; rated requests are among the scored ones, which makes it wider than need be, never narrower. Null
 * when ratings are so few that, with the pseudo-counts, the evaluator is no better than chance.
 */
export function correctedPassRateInterval({ passed, scored, confusion }: Correction): Interval | null {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  const [goodCount, badCount] = [truePositive + falseNegative, trueNegative + falsePositive];
  if (scored === 0 || goodCount === 0 || badCount === 0) return null;
  const estimate = correctedPassRate(passed / scored, truePositive / goodCount, trueNegative / badCount);
  const [goodTotal, badTotal, total] = [goodCount + 2, badCount + 2, scored + Z * Z];
  const sensitivity = (truePositive + 1) / goodTotal;
  const specificity = (trueNegative + 1) / badTotal;
  const passRate = (passed + (Z * Z) / 2) / total;
  const skill = sensitivity + specificity - 1;
  if (estimate === null || !(skill > 0)) return null;
  const centre = (passRate + specificity - 1) / skill;
  const sensitivityVariance = (sensitivity * (1 - sensitivity)) / goodTotal;
  const specificityVariance = (specificity * (1 - specificity)) / badTotal;
  const shift = 2 * Z * Z * (centre * sensitivityVariance - (1 - centre) * specificityVariance);
  const variance =
    ((passRate * (1 - passRate)) / total +
      centre ** 2 * sensitivityVariance +
      (1 - centre) ** 2 * specificityVariance) /
    skill ** 2;
  const spread = Z * Math.sqrt(variance);
  return {
    low: Math.min(estimate, Math.max(0, centre + shift - spread)),
    high: Math.max(estimate, Math.min(1, centre + shift + spread)),
  };
}
