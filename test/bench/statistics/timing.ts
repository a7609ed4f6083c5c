/** How long a comparison of many pairs takes. */
import { type CompareOptions, compareMetric } from '#core/statistics/compare.ts';
import { pairRuns, type Run } from '#core/statistics/pairs.ts';
import { type Random, seededRandom } from '#core/statistics/random.ts';
import { normal } from './draws.ts';

export type TimedCase = {
  name: string;
  options: CompareOptions;
  itemsACluster: number;
  value(random: Random): number;
};

export const TIMED_CASES: readonly TimedCase[] = [
  {
    name: 'binary',
    options: { kind: 'binary', direction: 'higher' },
    itemsACluster: 1,
    value: (random) => random.below(2),
  },
  {
    name: 'numeric',
    options: { kind: 'numeric', direction: 'lower' },
    itemsACluster: 1,
    value: (random) => Math.exp(normal(random)),
  },
  {
    name: 'ordinal',
    options: { kind: 'ordinal', direction: 'higher' },
    itemsACluster: 1,
    value: (random) => random.below(5),
  },
  {
    name: 'numeric, clusters of 5',
    options: { kind: 'numeric', direction: 'lower' },
    itemsACluster: 5,
    value: normal,
  },
];

/** Returns CPU and passed milliseconds of comparisons of this many pairs, one after the other. */
export function timesOf({ options, itemsACluster, value }: TimedCase, pairs: number, rounds: number) {
  const random = seededRandom(1);
  const side = (): Run[] =>
    Array.from({ length: pairs }, (_, index) => ({
      itemId: `item-${index}`,
      cluster: itemsACluster === 1 ? null : `${Math.floor(index / itemsACluster)}`,
      repetition: 0,
      value: value(random),
    }));
  const [baseline, candidate] = [side(), side()];
  return Array.from({ length: rounds }, (_, round) => {
    const [cpu, start] = [process.cpuUsage(), performance.now()];
    compareMetric({ paired: pairRuns(baseline, candidate), options: { ...options, seed: round } });
    const { user, system } = process.cpuUsage(cpu);
    return { cpuMs: (user + system) / 1_000, passedMs: performance.now() - start };
  });
}
