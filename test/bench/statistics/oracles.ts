/** Compares statistics with scipy and statsmodels over random tables. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cohensKappa, fleissKappa, type Weights } from '#core/statistics/agreement.ts';
import { bootstrapInterval, resampledMeans } from '#core/statistics/bootstrap.ts';
import { singleGroups } from '#core/statistics/groups.ts';
import { holmAdjusted } from '#core/statistics/holm.ts';
import { krippendorffAlpha, type RatingLevel } from '#core/statistics/krippendorff.ts';
import { mcnemarTest } from '#core/statistics/mcnemar.ts';
import { newcombeInterval } from '#core/statistics/newcombe.ts';
import { normalCdf, normalQuantile } from '#core/statistics/normal.ts';
import { permutationTest } from '#core/statistics/permutation.ts';
import { type Random, seededRandom } from '#core/statistics/random.ts';
import { studentQuantile } from '#core/statistics/student.ts';
import { tangoInterval } from '#core/statistics/tango.ts';
import { wilcoxonTest } from '#core/statistics/wilcoxon.ts';
import { normal } from './draws.ts';

/** A question to the oracles, [kind, argument, …], and our answer to it. */
type Question = { ask: readonly unknown[]; ours: readonly number[] };

/** A Python that has scipy and statsmodels; .ci/run makes one. */
const PYTHON = process.env.PYTHON_ORACLES ?? 'python3';
/** Ends with 1 unless both are installed; loading them takes seconds. */
const FINDS_PACKAGES =
  'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ["scipy", "statsmodels"])))';
const SCRIPT = fileURLToPath(new URL('./oracles.py', import.meta.url));

/** Returns false where the oracles are there or must be, else why the tests that need them are skipped. */
export function skippedWithoutOracles(): string | false {
  const hasThem = spawnSync(PYTHON, ['-c', FINDS_PACKAGES]).status === 0;
  return hasThem || process.env.CI === 'true'
    ? false
    : 'python3 has no scipy and statsmodels: install both, or name one that has them in PYTHON_ORACLES';
}

/** Returns the answers of the oracles in order, each as a list of numbers. */
export function askOracles(questions: readonly (readonly unknown[])[]): number[][] {
  const { stdout, stderr, status } = spawnSync(PYTHON, [SCRIPT], {
    input: JSON.stringify(questions),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`The oracles failed: ${stderr}`);
  return (JSON.parse(stdout) as (number | number[])[]).map((answer) => [answer].flat());
}

const several = (count: number, draw: () => number) => Array.from({ length: count }, draw);

/** Differences of several kinds: with ties and zeros or without, few or many. */
function differences(random: Random): number[] {
  const count = 3 + random.below(100);
  const isTied = random.below(2) === 0;
  return several(count, () => (isTied ? Math.round(2 * normal(random)) : normal(random) + 0.2));
}

/** Ratings of items by up to five people in three categories, some of them missing. */
function ratings(random: Random): (number | null)[][] {
  return Array.from({ length: 5 + random.below(30) }, () => {
    const first = random.below(3);
    return Array.from({ length: 5 }, () =>
      random.below(4) === 0 ? null : random.below(2) === 0 ? first : random.below(3),
    );
  });
}

const bounds = (interval: { low: number; high: number }) => [interval.low, interval.high];

/** Makes a random question of each statistic with a closed form. */
const CLOSED_FORMS: Record<string, (random: Random) => Question> = {
  'normal probability': (random) => {
    const values = several(20, () => 8 * normal(random)).filter((value) => value > -30);
    return { ask: ['cdf', values], ours: values.map(normalCdf) };
  },
  'normal quantile': (random) => {
    const values = several(20, () => random.uniform() ** (1 + random.below(20)));
    return { ask: ['quantile', values], ours: values.map(normalQuantile) };
  },
  'Student quantile': (random) => {
    const [alpha, degrees] = [0.001 + random.uniform() / 2, 1 + random.below(3_000)];
    return { ask: ['student', alpha, degrees], ours: [studentQuantile(alpha, degrees)] };
  },
  'Wilcoxon signed-rank': (random) => {
    const values = differences(random);
    // scipy divides 0 by 0 when nothing differs.
    if (!values.some((value) => value !== 0)) values.push(1);
    const { statistic, pValue } = wilcoxonTest(values);
    return { ask: ['wilcoxon', values], ours: [statistic, pValue] };
  },
  'McNemar, exact': (random) => {
    const size = 10 ** (1 + random.below(4));
    const [one, other] = [random.below(size), random.below(size)];
    return { ask: ['mcnemar', one, other], ours: [mcnemarTest(one, other).exact] };
  },
  Newcombe: (random) => {
    const size = 2 + random.below(200);
    const [both, baselineOnly, candidateOnly, neither] = several(4, () => random.below(size));
    const table = {
      both: both! + 1,
      baselineOnly: baselineOnly!,
      candidateOnly: candidateOnly!,
      neither: neither!,
    };
    const alpha = 0.01 + random.uniform() / 5;
    return {
      ask: ['newcombe', ...Object.values(table), alpha],
      ours: bounds(newcombeInterval(table, alpha)!),
    };
  },
  'Holm adjustment': (random) => {
    const values = several(1 + random.below(20), () => random.uniform() ** 3);
    return { ask: ['holm', values], ours: holmAdjusted(values) };
  },
  "Cohen's kappa": (random) => {
    const size = 2 + random.below(4);
    const table = Array.from({ length: size }, () => several(size, () => 1 + random.below(40)));
    const weights = (['none', 'linear', 'quadratic'] as Weights[])[random.below(3)]!;
    return { ask: ['cohens', table, weights], ours: [cohensKappa(table, weights).value!] };
  },
  "Fleiss' kappa": (random) => {
    const raters = 2 + random.below(5);
    const counts = Array.from({ length: 5 + random.below(30) }, () => {
      const row: number[] = [0, 0, 0];
      for (let rater = 0; rater < raters; rater += 1) row[random.below(3)]! += 1;
      return row;
    });
    return { ask: ['fleiss', counts], ours: [fleissKappa(counts).value!] };
  },
  "Krippendorff's alpha": (random) => {
    const items = ratings(random);
    const level = (['nominal', 'ordinal', 'interval'] as RatingLevel[])[random.below(3)]!;
    return { ask: ['krippendorff', items, level], ours: [krippendorffAlpha(items, level).value!] };
  },
};

/** Returns the largest difference of two lists: relative to the second, or only to what is above 1 in it. */
function errorOf(ours: readonly number[], wanted: readonly number[], isRelative: boolean): number {
  const least = isRelative ? 1e-280 : 1;
  // Infinite for a value that is not a number, which comparisons would pass over.
  return Math.max(
    ...ours.map((value, place) => {
      const error = Math.abs(value - wanted[place]!) / Math.max(Math.abs(wanted[place]!), least);
      return Number.isNaN(error) ? Number.POSITIVE_INFINITY : error;
    }),
  );
}

function largestError(questions: readonly Question[]): number {
  const answers = askOracles(questions.map(({ ask }) => ask));
  return Math.max(...questions.map(({ ours }, index) => errorOf(ours, answers[index]!, false)));
}

/** Statistics whose error is relative to the value itself, however small. */
const RELATIVE = new Set(['normal probability', 'normal quantile', 'McNemar, exact', 'Wilcoxon signed-rank']);

export const CLOSED_FORM_NAMES: readonly string[] = Object.keys(CLOSED_FORMS);

/** Returns the largest error of each statistic over random tables, by its name; of those named only, if any are. */
export function closedFormErrors(
  tables: number,
  seed: number,
  names: readonly string[] = CLOSED_FORM_NAMES,
): Map<string, number> {
  const questions = names.flatMap((name) => {
    const random = seededRandom(seed);
    return Array.from({ length: tables }, () => ({ name, ...CLOSED_FORMS[name]!(random) }));
  });
  const answers = askOracles(questions.map(({ ask }) => ask));
  const errors = new Map<string, number>();
  for (const [index, { name, ours }] of questions.entries()) {
    const error = errorOf(ours, answers[index]!, RELATIVE.has(name));
    errors.set(name, Math.max(errors.get(name) ?? 0, error));
  }
  return errors;
}

/** Returns the largest error of Tango's interval: its oracle searches for the maximum of a likelihood, to six digits. */
export function tangoError(tables: number, seed: number): number {
  const random = seededRandom(seed);
  const questions = Array.from({ length: tables }, () => {
    const [wins, losses, ties] = [1 + random.below(40), 1 + random.below(40), 1 + random.below(80)];
    const total = wins + losses + ties;
    return {
      ask: ['tango', wins, losses, total, 0.05],
      ours: bounds(tangoInterval(wins, losses, total, 0.05)),
    };
  });
  return largestError(questions);
}

type Sample = { baseline: number[]; candidate: number[] };

/** Both sides of 10 to 99 items, whose differences are normal or lognormal. */
function sampleSides(random: Random): Sample {
  const count = 10 + random.below(90);
  const isSkewed = random.below(2) === 0;
  const baseline = several(count, () => normal(random));
  const shift = () => (isSkewed ? Math.exp(normal(random)) : normal(random));
  return { baseline, candidate: baseline.map((value) => value + shift()) };
}

function scipyLike({ baseline, candidate }: Sample, seed: number, resamples: number): number[] {
  const groups = singleGroups(candidate.map((value, place) => value - baseline[place]!));
  const { interval } = bootstrapInterval(groups, { alpha: 0.05, seed, resamples, isExpanded: false });
  return bounds(interval!);
}

/** Returns the largest difference of BCa bounds from those that scipy makes of the same resamples. */
export function bcaError(tables: number, seed: number): number {
  const random = seededRandom(seed);
  const questions = Array.from({ length: tables }, (_, index) => {
    const sample = sampleSides(random);
    const { baseline, candidate } = sample;
    const groups = singleGroups(candidate.map((value, place) => value - baseline[place]!));
    const means = [...resampledMeans(groups, 2_000, index)];
    return { ask: ['bca', baseline, candidate, 0.05, means], ours: scipyLike(sample, index, 2_000) };
  });
  return largestError(questions);
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Returns the mean difference of BCa bounds from scipy's, each with resamples of its own, and that of scipy's from scipy's
 * with another seed: in bootstrap standard errors.
 */
export function bootstrapErrors(tables: number, seed: number, resamples: number) {
  const random = seededRandom(seed);
  const samples = Array.from({ length: tables }, () => sampleSides(random));
  const ask = (offset: number) =>
    askOracles(
      samples.map(({ baseline, candidate }, index) => [
        'bootstrap',
        baseline,
        candidate,
        0.05,
        resamples,
        index + offset,
      ]),
    );
  const [one, other] = [ask(0), ask(tables)];
  const ours = samples.map((sample, index) => scipyLike(sample, index, resamples));
  const distance = (left: number[][], right: number[][]) =>
    meanOf(
      one.flatMap(([, , error], index) =>
        [0, 1].map((bound) => Math.abs(left[index]![bound]! - right[index]![bound]!) / error!),
      ),
    );
  return { fromScipy: distance(ours, one), amongScipy: distance(other, one) };
}

/**
 * Returns the largest difference of sign-flip p values from scipy's: of few pairs, which both enumerate, and of many, in
 * standard errors of the difference of two drawn shares.
 */
export function permutationErrors(tables: number, seed: number, permutations: number) {
  const random = seededRandom(seed);
  const samples = Array.from({ length: tables }, (_, index) => {
    const isExact = index % 2 === 0;
    const count = isExact ? 2 + random.below(10) : 20 + random.below(60);
    return { isExact, values: several(count, () => Math.round(20 * normal(random) + 5) / 8) };
  });
  const answers = askOracles(
    samples.map(({ values }, index) => ['permutation', values, permutations, index]),
  );
  const errors = { exact: 0, drawn: 0 };
  for (const [index, { isExact, values }] of samples.entries()) {
    const { pValue } = permutationTest(singleGroups(values), { seed: index, permutations });
    const wanted = answers[index]![0]!;
    const middle = (pValue + wanted) / 2;
    // Ours is a share of both tails; scipy's is twice that of the smaller one, which varies more.
    const variance = middle * (1 - middle) + 2 * middle * (1 - middle / 2);
    const scale = isExact ? 1 : Math.sqrt(variance / permutations);
    const kind = isExact ? 'exact' : 'drawn';
    errors[kind] = Math.max(errors[kind], Math.abs(pValue - wanted) / scale);
  }
  return errors;
}
