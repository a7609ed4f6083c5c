/** How often intervals contain the true value, in simulated experiments. */
import { bootstrapInterval } from '#core/statistics/bootstrap.ts';
import { type Corrected, correctedDifference } from '#core/statistics/corrected.ts';
import { type Groups, groupPairs, singleGroups, standardError } from '#core/statistics/groups.ts';
import { newcombeInterval } from '#core/statistics/newcombe.ts';
import type { Random } from '#core/statistics/random.ts';
import type { Interval } from '#core/statistics/wilson.ts';
import { type Preference, winRateOf } from '#core/statistics/win-rate.ts';
import { type Draw, discordant, experimentSeeds, exponential, lognormal, normal, ratings } from './draws.ts';

/** A kind of experiment: its true value, and the interval of one that is drawn; null when it has none. */
export type CoverageCase = { name: string; truth: number; interval(random: Random): Interval | null };

const ALPHA = 0.05;
/** Fewer than in use, to simulate more experiments: the bounds then vary with the seed by a tenth of a standard error. */
const RESAMPLES = 1_000;

function bca(groups: Groups, random: Random): Interval | null {
  return bootstrapInterval(groups, { alpha: ALPHA, seed: random.bits(), resamples: RESAMPLES }).interval;
}

function bcaCase(name: string, count: number, draw: Draw): CoverageCase {
  return {
    name: `BCa, ${name}, ${count} pairs`,
    truth: 0,
    interval: (random) => bca(singleGroups(Array.from({ length: count }, () => draw(random))), random),
  };
}

/** Both sides succeed by the same difficulty of an item: the first with `chance`, the second with `gain` more. */
function newcombeCase(count: number, chance: number, gain: number, shared: number): CoverageCase {
  return {
    name: `Newcombe, ${count} pairs, ${chance} and ${(chance + gain).toFixed(2)}, correlation ${shared}`,
    truth: gain,
    interval: (random) => {
      const table = { both: 0, baselineOnly: 0, candidateOnly: 0, neither: 0 };
      for (let index = 0; index < count; index += 1) {
        const [common, one, other] = [random.uniform(), random.uniform(), random.uniform()];
        const isShared = random.uniform() < shared;
        const baseline = (isShared ? common : one) < chance;
        const candidate = (isShared ? common : other) < chance + gain;
        table[baseline ? (candidate ? 'both' : 'baselineOnly') : candidate ? 'candidateOnly' : 'neither'] +=
          1;
      }
      return newcombeInterval(table, ALPHA);
    },
  };
}

/** Clusters of one to nine items that share a part of their difference. */
function clusteredCase(clusters: number): CoverageCase {
  return {
    name: `BCa, ${clusters} clusters of 1 to 9 pairs`,
    truth: 0,
    interval: (random) => {
      const pairs = Array.from({ length: clusters }, (_, cluster) => {
        const common = normal(random);
        return Array.from({ length: 1 + random.below(9) }, () => ({
          itemId: '',
          cluster: String(cluster),
          baseline: 0,
          candidate: common + normal(random),
        }));
      });
      return bca(groupPairs(pairs.flat()), random);
    },
  };
}

function winRateCase(count: number, wins: number, ties: number): CoverageCase {
  return {
    name: `win rate, ${count} items, ${wins} won and ${ties} tied`,
    truth: wins + ties / 2,
    interval: (random) => {
      const preferences = Array.from({ length: count }, (): Preference => {
        const draw = random.uniform();
        return draw < wins ? 'candidate' : draw < wins + ties ? 'tie' : 'baseline';
      });
      return winRateOf(preferences, ALPHA).interval;
    },
  };
}

/** A judge that errs at known rates, and people who rated other answers of the same kinds. */
function correctedCase(count: number, rated: number, gain: number): CoverageCase {
  const [sensitivity, specificity] = [0.9, 0.8];
  return {
    name: `corrected, ${count} pairs, ${rated} ratings, gain ${gain}`,
    truth: gain,
    interval: (random) => {
      const judged = (isGood: boolean) =>
        random.uniform() < (isGood ? sensitivity : 1 - specificity) ? 1 : 0;
      const differences = Array.from({ length: count }, () => {
        const item = random.uniform();
        return judged(item < 0.6 + gain) - judged(item < 0.6);
      });
      const confusion = { truePositive: 0, falsePositive: 0, falseNegative: 0, trueNegative: 0 };
      for (let index = 0; index < rated; index += 1) {
        const isGood = random.uniform() < 0.6;
        const passes = judged(isGood) === 1;
        confusion[
          isGood ? (passes ? 'truePositive' : 'falseNegative') : passes ? 'falsePositive' : 'trueNegative'
        ] += 1;
      }
      const groups = singleGroups(differences);
      const error = standardError(groups)!;
      const corrected: Corrected = correctedDifference({
        difference: groups.mean,
        error,
        confusion,
        alpha: ALPHA,
      });
      return corrected.difference === null ? null : corrected.interval;
    },
  };
}

export const COVERAGE_CASES: readonly CoverageCase[] = [
  newcombeCase(50, 0.8, 0, 0.5),
  newcombeCase(100, 0.7, 0.1, 0.5),
  newcombeCase(300, 0.9, 0.03, 0.8),
  bcaCase('normal', 30, normal),
  bcaCase('normal', 100, normal),
  bcaCase('ratings from 1 to 5', 80, ratings),
  bcaCase('one side alone succeeds in 20 %', 100, discordant(0.2)),
  bcaCase('exponential', 100, exponential),
  bcaCase('lognormal, sigma 0.5', 100, lognormal(0.5)),
  bcaCase('lognormal, sigma 1', 300, lognormal(1)),
  clusteredCase(50),
  winRateCase(50, 0.4, 0.3),
  winRateCase(200, 0.5, 0.1),
  correctedCase(200, 100, 0.1),
  correctedCase(500, 200, 0),
];

/** Few or very skewed differences, of which fewer intervals than 93 % hold the truth. */
export const HARD_CASES: readonly CoverageCase[] = [
  bcaCase('normal', 10, normal),
  bcaCase('lognormal, sigma 1', 50, lognormal(1)),
  bcaCase('one side alone succeeds in 3 %', 100, discordant(0.03)),
  clusteredCase(15),
];

/** Returns the share of experiments whose interval contains the truth, of those that have one, and how many have none. */
export function coverageOf(
  { truth, interval }: CoverageCase,
  experiments: number,
  seed: number,
): { share: number; without: number } {
  let [held, without] = [0, 0];
  for (const random of experimentSeeds(seed, experiments)) {
    const bounds = interval(random);
    if (bounds === null) without += 1;
    else if (bounds.low <= truth && truth <= bounds.high) held += 1;
  }
  return { share: held / (experiments - without), without };
}
