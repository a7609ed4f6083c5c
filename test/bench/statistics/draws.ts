/** Simulated differences whose true mean is known. */
import { normalQuantile } from '#core/statistics/normal.ts';
import { type Random, seededRandom } from '#core/statistics/random.ts';

/** Draws a paired difference. */
export type Draw = (random: Random) => number;

/** A standard normal number. */
export const normal: Draw = (random) => normalQuantile((random.bits() + 0.5) / 2 ** 32);

/** An exponential number less its mean. */
export const exponential: Draw = (random) => -Math.log(1 - random.uniform()) - 1;

/** A lognormal number less its mean; `sigma` is the standard deviation of its logarithm. */
export function lognormal(sigma: number): Draw {
  return (random) => Math.exp(sigma * normal(random)) - Math.exp(sigma ** 2 / 2);
}

/** The difference of two lognormal numbers, as of costs or latencies of two equal sides. */
export function lognormalPair(sigma: number): Draw {
  return (random) => Math.exp(sigma * normal(random)) - Math.exp(sigma * normal(random));
}

/** 1 or −1 in a share of items, 0 in the others; `mean` is the share of 1 less that of −1. */
export function discordant(share: number, mean = 0): Draw {
  return (random) => {
    const draw = random.uniform();
    return draw < (share + mean) / 2 ? 1 : draw < share ? -1 : 0;
  };
}

/** A large gain in a share of items, and the same in all as a small loss in the others; the mean is 0. */
export function rareGain(share: number): Draw {
  return (random) => (random.uniform() < share ? 1 - share : -share);
}

/** The difference of two ratings from 1 to 5. */
export const ratings: Draw = (random) =>
  Math.min(4, Math.max(-4, Math.round(1.2 * normal(random) + 0.8 * normal(random))));

/** Returns one random source for each experiment, so that experiments do not depend on each other. */
export function experimentSeeds(seed: number, experiments: number): Random[] {
  return Array.from({ length: experiments }, (_, index) => seededRandom(seed * 1_000_003 + index));
}
