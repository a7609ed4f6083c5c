/** The difference of pass rates that people would have found, from a judge's verdicts and its errors. */
import type { Confusion } from './confusion.ts';
import { normalQuantile } from './normal.ts';
import type { Interval } from './wilson.ts';

export type CorrectedInput = {
  /** The mean paired difference of a judge's passes (1) and failures (0), candidate less baseline. */
  difference: number;
  /** The standard error of that difference, by cluster if there are clusters. */
  error: number;
  /** Counts of the judge's verdicts against people's; null when people rated nothing. */
  confusion: Confusion | null;
  alpha: number;
};

/** The corrected difference with its interval, or the reason that there is none. */
export type Corrected = { difference: number; interval: Interval } | { difference: null; reason: string };

/** Least and greatest difference of two pass rates. */
const clamp = (value: number) => Math.min(1, Math.max(-1, value));

/** Returns a judge's skill, sensitivity and specificity less 1, and its variance; counts have `added` on either side. */
function skillOf({ truePositive, falsePositive, falseNegative, trueNegative }: Confusion, added: number) {
  const [good, bad] = [truePositive + falseNegative + 2 * added, trueNegative + falsePositive + 2 * added];
  const [sensitivity, specificity] = [(truePositive + added) / good, (trueNegative + added) / bad];
  const variance = (sensitivity * (1 - sensitivity)) / good + (specificity * (1 - specificity)) / bad;
  return { skill: sensitivity + specificity - 1, variance };
}

/**
 * Returns the bounds of numerator / skill for independent normal estimates of both, given that skill is clearly above 0:
 * E. C. Fieller's theorem (JRSS B 16, 1954). Null when skill may be 0: then the bounds are not finite.
 */
function fieller(input: CorrectedInput, skill: number, variance: number): Interval | null {
  const z = normalQuantile(1 - input.alpha / 2);
  const divisor = skill ** 2 - z ** 2 * variance;
  if (!(divisor > 0)) return null;
  const { difference, error } = input;
  const centre = (difference * skill) / divisor;
  const spread = (z / divisor) * Math.sqrt(error ** 2 * divisor + difference ** 2 * variance);
  return { low: centre - spread, high: centre + spread };
}

/**
 * Returns the difference of the pass rates of both sides that people would have found: with Rogan and Gladen's estimator
 * (American Journal of Epidemiology 107, 1978) for both, which is the judge's difference over its skill, sensitivity +
 * specificity − 1. It takes the judge to err alike on both sides. The interval is Fieller's, with one count added to each
 * cell as Zs. Lang and J. Reiczigel do (Preventive Veterinary Medicine 113, 2014): without, a table in which all agree would
 * say that the judge never errs. It takes people's ratings for independent of the compared runs.
 */
export function correctedDifference(input: CorrectedInput): Corrected {
  const { difference, confusion } = input;
  if (confusion === null) return { difference: null, reason: 'people rated none of the answers' };
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  if (truePositive + falseNegative === 0 || trueNegative + falsePositive === 0) {
    return { difference: null, reason: 'people rated no good answer, or no bad one' };
  }
  const { skill } = skillOf(confusion, 0);
  if (!(skill > 0)) return { difference: null, reason: 'the judge is no better than chance' };
  const added = skillOf(confusion, 1);
  const interval = fieller(input, added.skill, added.variance);
  if (!(added.skill > 0) || interval === null) {
    return { difference: null, reason: 'people rated too few answers to tell the judge from chance' };
  }
  const estimate = clamp(difference / skill);
  return {
    difference: estimate,
    interval: {
      low: Math.min(estimate, clamp(interval.low)),
      high: Math.max(estimate, clamp(interval.high)),
    },
  };
}
