/** How often comparisons of two sides that do not differ find a difference, in simulated experiments. */
import { compareMetric, type MetricKind } from '#core/statistics/compare.ts';
import { decisionOf, PEEK_EVERY, type PeekOptions } from '#core/statistics/confidence-sequence.ts';
import { pairRuns } from '#core/statistics/pairs.ts';
import type { Random } from '#core/statistics/random.ts';
import {
  type Draw,
  discordant,
  experimentSeeds,
  exponential,
  lognormal,
  lognormalPair,
  normal,
  rareGain,
} from './draws.ts';

/** Differences with a mean of 0; `isBounded`: they lie from −1 to 1, and the metric has a range. */
export type PeekingCase = { name: string; draw: Draw; isBounded: boolean };

export const PEEKING_CASES: readonly PeekingCase[] = [
  { name: 'normal', draw: normal, isBounded: false },
  { name: 'lognormal on both sides, sigma 1', draw: lognormalPair(1), isBounded: false },
  { name: 'exponential', draw: exponential, isBounded: false },
  { name: 'lognormal, sigma 0.5', draw: lognormal(0.5), isBounded: false },
  { name: 'lognormal, sigma 1', draw: lognormal(1), isBounded: false },
  { name: 'lognormal, sigma 1.5', draw: lognormal(1.5), isBounded: false },
  { name: 'one side alone succeeds in 1 %', draw: discordant(0.01), isBounded: true },
  { name: 'one side alone succeeds in 5 %', draw: discordant(0.05), isBounded: true },
  { name: 'one side alone succeeds in 30 %', draw: discordant(0.3), isBounded: true },
  { name: 'a gain of 0.97 in 3 %, else a loss', draw: rareGain(0.03), isBounded: true },
  { name: 'the same, without a known range', draw: rareGain(0.03), isBounded: false },
];

/** Pairs of an experiment that nothing stops: 40 looks. */
const MOST_PAIRS = 1_000;

function stopsAt(random: Random, draw: Draw, options: PeekOptions): number | null {
  const differences = new Float64Array(MOST_PAIRS);
  for (let count = 1; count <= MOST_PAIRS; count += 1) {
    differences[count - 1] = draw(random);
    if (count % PEEK_EVERY === 0 && decisionOf(differences.subarray(0, count), options) !== 'continue')
      return count;
  }
  return null;
}

/** Returns the share of experiments that a look stopped, and the mean number of pairs of all. */
export function stopped(
  { draw, isBounded }: PeekingCase,
  experiments: number,
  seed: number,
): { share: number; pairs: number } {
  const options: PeekOptions = {
    alpha: 0.05,
    direction: 'higher',
    margin: null,
    range: isBounded ? { low: 0, high: 1 } : null,
  };
  let [count, pairs] = [0, 0];
  for (const random of experimentSeeds(seed, experiments)) {
    const at = stopsAt(random, draw, options);
    if (at !== null) count += 1;
    pairs += at ?? MOST_PAIRS;
  }
  return { share: count / experiments, pairs: pairs / experiments };
}

/** Pairs of two equal sides. */
export type EqualCase = {
  name: string;
  kind: MetricKind;
  count: number;
  draw(random: Random): [number, number];
};

const bit = (random: Random, chance: number) => (random.uniform() < chance ? 1 : 0);

export const EQUAL_CASES: readonly EqualCase[] = [
  {
    name: 'binary, 50 pairs',
    kind: 'binary',
    count: 50,
    draw: (random) => [bit(random, 0.7), bit(random, 0.7)],
  },
  {
    name: 'binary, 200 pairs, few discordant',
    kind: 'binary',
    count: 200,
    draw: (random) => {
      const both = bit(random, 0.9);
      return random.uniform() < 0.8 ? [both, both] : [bit(random, 0.5), bit(random, 0.5)];
    },
  },
  {
    name: 'normal, 30 pairs',
    kind: 'numeric',
    count: 30,
    draw: (random) => [normal(random), normal(random)],
  },
  {
    name: 'lognormal, 100 pairs',
    kind: 'numeric',
    count: 100,
    draw: (random) => [Math.exp(normal(random)), Math.exp(normal(random))],
  },
];

/** Returns the share of comparisons of two equal sides whose verdict is better or worse. */
export function falseVerdicts({ kind, count, draw }: EqualCase, experiments: number, seed: number): number {
  const found = experimentSeeds(seed, experiments).filter((random) => {
    const values = Array.from({ length: count }, () => draw(random));
    const runs = (side: 0 | 1) =>
      values.map((value, index) => ({
        itemId: `${index}`,
        cluster: null,
        repetition: 0,
        value: value[side],
      }));
    const { verdict } = compareMetric({
      paired: pairRuns(runs(0), runs(1)),
      options: { kind, direction: 'higher', seed: random.bits(), resamples: 1_000 },
    });
    return verdict === 'better' || verdict === 'worse';
  });
  return found.length / experiments;
}
