/** Sign-flip permutation test of a mean paired difference. */
import type { Groups } from './groups.ts';
import { seededRandom } from './random.ts';

export type PermutationOptions = {
  seed: number;
  /** Permutations that are drawn when there are too many to enumerate. */
  permutations?: number | undefined;
};

/** A two-sided p value, and whether every permutation was counted. */
export type PermutationResult = { pValue: number; method: 'exact' | 'Monte Carlo' };

/** As many permutations as the bootstrap has resamples. */
const DEFAULT_PERMUTATIONS = 10_000;
/** Groups whose signs are enumerated: 2¹⁶ sums take a millisecond, and as many draws as that would be less exact. */
const MOST_GROUPS_EXACT = 16;
/** Groups whose sum is looked up at once by the bits of their signs: 256 sums of eight groups. */
const CHUNK = 8;
/** Permutations whose sums of a chunk are looked up together: the tables of 100,000 groups are larger than a processor's cache. */
const TOGETHER = 64;
/** Sums that differ by less, relative to the sum of absolute values, are equal but for rounding. */
const CLOSE = 1e-12;

/** Returns the sums of some values under every choice of signs, by the bits of the choice: a set bit is a minus. */
function signedSums(values: Float64Array): Float64Array {
  const sums = new Float64Array(2 ** values.length);
  let filled = 1;
  for (const value of values) {
    for (let index = 0; index < filled; index += 1) {
      sums[index + filled] = sums[index]! - value;
      sums[index]! += value;
    }
    filled *= 2;
  }
  return sums;
}

function exactPValue(values: Float64Array, least: number): number {
  const sums = signedSums(values);
  return sums.filter((sum) => Math.abs(sum) >= least).length / sums.length;
}

/**
 * Draws signs, 32 by each word of random bits, and looks up the sums of eight groups at once: 10,000 permutations of 10,000
 * groups are 12.5 million look-ups instead of a hundred million additions.
 */
function drawnPValue(values: Float64Array, least: number, permutations: number, seed: number): number {
  const random = seededRandom(seed);
  const chunks = Math.ceil(values.length / CHUNK);
  const tables = new Float64Array(chunks * 256);
  const padded = new Float64Array(chunks * CHUNK);
  padded.set(values);
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    tables.set(signedSums(padded.subarray(chunk * CHUNK, (chunk + 1) * CHUNK)), chunk * 256);
  }
  const wordsOfOne = Math.ceil(chunks / 4);
  const words = new Uint32Array(TOGETHER * wordsOfOne);
  let extreme = 0;
  for (let done = 0; done < permutations; done += TOGETHER) {
    const sums = new Float64Array(Math.min(TOGETHER, permutations - done));
    random.fillBits(words.subarray(0, sums.length * wordsOfOne));
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      for (let one = 0; one < sums.length; one += 1) {
        const signs = (words[one * wordsOfOne + (chunk >> 2)]! >>> (8 * (chunk & 3))) & 255;
        sums[one]! += tables[chunk * 256 + signs]!;
      }
    }
    extreme += sums.filter((sum) => Math.abs(sum) >= least).length;
  }
  return (extreme + 1) / (permutations + 1);
}

/**
 * Tests whether the mean difference is 0 by flipping the signs of differences (R. A. Fisher, "The Design of Experiments",
 * 1935), those of a group together: if both sides were alike, each difference would be as likely with the other sign. The
 * two-sided p is the share of sign choices whose mean is at least as far from 0. Up to 16 groups with a sum other than 0 are
 * enumerated; of more, permutations are drawn and the observed one is counted with them (B. Phipson and G. K. Smyth,
 * Statistical Applications in Genetics and Molecular Biology 9, 2010), so that p is never 0. Without any difference p is 1.
 */
export function permutationTest(groups: Groups, options: PermutationOptions): PermutationResult {
  // Flipping a 0 changes nothing.
  const values = groups.sums.filter((sum) => sum !== 0);
  const observed = Math.abs(values.reduce((sum, value) => sum + value, 0));
  const least = observed - CLOSE * values.reduce((sum, value) => sum + Math.abs(value), 0);
  if (values.length <= MOST_GROUPS_EXACT) return { pValue: exactPValue(values, least), method: 'exact' };
  const permutations = options.permutations ?? DEFAULT_PERMUTATIONS;
  return { pValue: drawnPValue(values, least, permutations, options.seed), method: 'Monte Carlo' };
}
