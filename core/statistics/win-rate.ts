/** How often a judge that sees the answers of both sides prefers the candidate's. */
import { mcnemarTest } from './mcnemar.ts';
import { tangoInterval } from './tango.ts';
import type { Interval } from './wilson.ts';

/** The side whose answer a judge prefers. */
export type Preference = 'baseline' | 'candidate' | 'tie';

export type WinRate = {
  wins: number;
  ties: number;
  losses: number;
  /** From 0 to 1: the share of wins, and half of that of ties; null without items. */
  rate: number | null;
  interval: Interval | null;
  /** Two-sided, that wins and losses are alike (sign test, mid-p); null without items. */
  pValue: number | null;
};

/**
 * Returns what a judge prefers that was asked twice, with either answer first. Judges favour a position (L. Zheng et al.,
 * "Judging LLM-as-a-Judge", NeurIPS 2023, section 3.4), so two orders that disagree are a tie.
 */
export function settleOrders(baselineFirst: Preference, candidateFirst: Preference): Preference {
  return baselineFirst === candidateFirst ? baselineFirst : 'tie';
}

/**
 * Returns the win rate, ties counted by half, with the interval that follows from Tango's for the share of wins less that of
 * losses. Items are taken for independent.
 */
export function winRateOf(preferences: readonly Preference[], alpha = 0.05): WinRate {
  const count = (side: Preference) => preferences.filter((one) => one === side).length;
  const [wins, ties, losses] = [count('candidate'), count('tie'), count('baseline')];
  const total = preferences.length;
  if (total === 0) return { wins, ties, losses, rate: null, interval: null, pValue: null };
  const { low, high } = tangoInterval(wins, losses, total, alpha);
  return {
    wins,
    ties,
    losses,
    rate: (wins + ties / 2) / total,
    interval: { low: (1 + low) / 2, high: (1 + high) / 2 },
    pValue: mcnemarTest(losses, wins).midP,
  };
}
