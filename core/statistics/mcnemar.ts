/** McNemar's test of two proportions of the same items. */
import { fairCount } from './binomial.ts';

/** Two-sided p values of McNemar's exact test and of its mid-p variant. */
export type McNemar = { exact: number; midP: number };

/**
 * Tests whether two proportions of the same items are equal, from the pairs in which one side alone succeeded: under
 * equality each side is as likely to be that one (Q. McNemar, Psychometrika 12, 1947). The exact p is twice the smaller tail,
 * at most 1; mid-p counts
 * outcomes as extreme as the observed one by half, because the exact test rejects too rarely
 * (M. W. Fagerland, S. Lydersen and P. Laake, BMC Medical Research Methodology 13:91, 2013). Both are 1 without such pairs.
 * It takes each item for independent and for measured once: it does not hold for clusters or averaged repetitions.
 */
export function mcnemarTest(baselineOnly: number, candidateOnly: number): McNemar {
  const discordant = baselineOnly + candidateOnly;
  if (discordant === 0) return { exact: 1, midP: 1 };
  const { at, below } = fairCount(Math.min(baselineOnly, candidateOnly), discordant);
  // With equal counts every other outcome is more extreme, and the observed one counts once.
  const midP = baselineOnly === candidateOnly ? 1 - at / 2 : 2 * below + at;
  return { exact: Math.min(1, 2 * (below + at)), midP };
}
