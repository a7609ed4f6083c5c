/** Tango's interval of the difference of two shares of the same items. */

import { normalQuantile } from './normal.ts';
import type { Interval } from './wilson.ts';

/** Bisections of a range of 1 at least: the bound is found to 10⁻¹⁵. */
const BISECTIONS = 52;

/**
 * Returns the score of a difference: the observed one less it, over its standard error under it, with the share of losses
 * most likely under it (formulas 4 to 7 of Tango).
 */
function score(wins: number, losses: number, total: number, difference: number): number {
  const a = 2 * total;
  const b = -wins - losses + (2 * total - wins + losses) * difference;
  const c = -losses * difference * (1 - difference);
  const lossShare = (Math.sqrt(Math.max(0, b * b - 4 * a * c)) - b) / (2 * a);
  const variance = total * (2 * lossShare + difference * (1 - difference));
  const excess = wins - losses - total * difference;
  if (excess === 0) return 0;
  return excess / Math.sqrt(Math.max(0, variance));
}

/** Returns the lowest difference whose score is at most `z`: it falls as the difference rises. */
function lowerBound(wins: number, losses: number, total: number, z: number): number {
  let [low, high] = [-1, (wins - losses) / total];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (score(wins, losses, total, middle) > z) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Returns the asymptotic score interval of (wins − losses) / total (T. Tango, Statistics in Medicine 17, 891–908, 1998). It
 * needs no more than the items that one side won and those that the other did, and holds when there are few of either.
 * @param total items, with those that neither side won; at least 1
 */
export function tangoInterval(wins: number, losses: number, total: number, alpha: number): Interval {
  const z = normalQuantile(1 - alpha / 2);
  return {
    low: lowerBound(wins, losses, total, z),
    high: -lowerBound(losses, wins, total, z),
  };
}
