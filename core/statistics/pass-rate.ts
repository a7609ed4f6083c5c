/** The pass rate that people would have found, from a judge's pass rate and its errors. */
import type { Confusion } from './confusion.ts';
import { Z95 } from './normal.ts';
import type { Interval } from './wilson.ts';

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
  const [goodTotal, badTotal, total] = [goodCount + 2, badCount + 2, scored + Z95 * Z95];
  const sensitivity = (truePositive + 1) / goodTotal;
  const specificity = (trueNegative + 1) / badTotal;
  const passRate = (passed + (Z95 * Z95) / 2) / total;
  const skill = sensitivity + specificity - 1;
  if (estimate === null || !(skill > 0)) return null;
  const centre = (passRate + specificity - 1) / skill;
  const sensitivityVariance = (sensitivity * (1 - sensitivity)) / goodTotal;
  const specificityVariance = (specificity * (1 - specificity)) / badTotal;
  const shift = 2 * Z95 * Z95 * (centre * sensitivityVariance - (1 - centre) * specificityVariance);
  const variance =
    ((passRate * (1 - passRate)) / total +
      centre ** 2 * sensitivityVariance +
      (1 - centre) ** 2 * specificityVariance) /
    skill ** 2;
  const spread = Z95 * Math.sqrt(variance);
  return {
    low: Math.min(estimate, Math.max(0, centre + shift - spread)),
    high: Math.max(estimate, Math.min(1, centre + shift + spread)),
  };
}
