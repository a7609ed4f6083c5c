/** `npm run bench statistics`: agreement with scipy and statsmodels, coverage, false alarms, and the time of a comparison. */
import { Command } from 'commander';
import { wholeNumber } from './options.ts';
import { COVERAGE_CASES, coverageOf, HARD_CASES } from './statistics/coverage.ts';
import { EQUAL_CASES, falseVerdicts, PEEKING_CASES, stopped } from './statistics/false-alarms.ts';
import {
  bcaError,
  bootstrapErrors,
  CLOSED_FORM_NAMES,
  closedFormErrors,
  permutationErrors,
  skippedWithoutOracles,
  tangoError,
} from './statistics/oracles.ts';
import { TIMED_CASES, timesOf } from './statistics/timing.ts';
import { formatTable, median, print } from './table.ts';

type Options = {
  experiments: number;
  tables: number;
  pairs: number;
  seed: number;
  only: string;
  cases: string;
};

const percent = (share: number) => `${(100 * share).toFixed(2)} %`;

function named<T extends { name: string }>(all: readonly T[], text: string): T[] {
  return all.filter(({ name }) => name.includes(text));
}

function printTable(head: string[], rows: string[][]): void {
  print(`\n${formatTable([head, ...rows])}`);
}

function printAgreement({ tables, seed, cases }: Options): void {
  const reason = skippedWithoutOracles();
  if (reason !== false) {
    print(reason);
    return;
  }
  const names = CLOSED_FORM_NAMES.filter((name) => name.includes(cases));
  const rows = [...closedFormErrors(tables, seed, names)].map(([name, error]) => [
    name,
    `${tables}`,
    error.toExponential(1),
  ]);
  if (names.length === CLOSED_FORM_NAMES.length)
    rows.push(...resampledAgreement(Math.max(1, Math.ceil(tables / 10)), seed));
  printTable(['agreement with scipy and statsmodels', 'tables', 'largest error'], rows);
}

/** Returns rows of what takes scipy a tenth of a second a table: searches, resamples and permutations. */
function resampledAgreement(tables: number, seed: number): string[][] {
  const { fromScipy, amongScipy } = bootstrapErrors(tables, seed, 5_000);
  const { exact, drawn } = permutationErrors(tables, seed, 10_000);
  return [
    ["Tango's interval", `${tables}`, tangoError(tables, seed).toExponential(1)],
    ['BCa of the same resamples', `${tables}`, bcaError(tables, seed).toExponential(1)],
    ['BCa of other resamples, in standard errors, mean', `${tables}`, fromScipy.toFixed(4)],
    ['  scipy from itself', `${tables}`, amongScipy.toFixed(4)],
    ['sign flip, enumerated', `${tables}`, exact.toExponential(1)],
    ['sign flip, drawn, in standard errors', `${tables}`, drawn.toFixed(2)],
  ];
}

function printCoverage({ experiments, seed, cases }: Options): void {
  const rows = named([...COVERAGE_CASES, ...HARD_CASES], cases).map((one) => {
    const { share, without } = coverageOf(one, experiments, seed);
    return [one.name, percent(share), `${without}`];
  });
  printTable(['intervals of 95 %', 'hold the truth', 'without interval'], rows);
}

function printFalseAlarms({ experiments, seed, cases }: Options): void {
  const peeking = named(PEEKING_CASES, cases).map((one) => [
    `${one.name}${one.isBounded ? ' (bounded)' : ''}`,
    percent(stopped(one, experiments, seed).share),
  ]);
  printTable(['looks after each 25 of 1,000 pairs', 'false alarms'], peeking);
  const equal = named(EQUAL_CASES, cases).map((one) => [
    one.name,
    percent(falseVerdicts(one, experiments, seed)),
  ]);
  printTable(['comparison of two equal sides', 'better or worse'], equal);
}

function printTimes({ pairs }: Options): void {
  const rows = TIMED_CASES.map((one) => {
    const times = timesOf(one, pairs, 7);
    return [
      one.name,
      ...(['cpuMs', 'passedMs'] as const).map((key) => median(times.map((time) => time[key])).toFixed(0)),
    ];
  });
  printTable([`comparison of ${pairs} pairs`, 'CPU ms', 'ms'], rows);
}

const PARTS: Record<string, (options: Options) => void> = {
  agreement: printAgreement,
  coverage: printCoverage,
  'false-alarms': printFalseAlarms,
  times: printTimes,
};

/** Runs the benchmark. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench statistics')
    .description(
      'Statistics of experiments: agreement with scipy and statsmodels, coverage, false alarms, times',
    )
    .option('--experiments <number>', 'simulated experiments of each case', wholeNumber, 10_000)
    .option('--tables <number>', 'random tables of each statistic', wholeNumber, 2_000)
    .option('--pairs <number>', 'pairs of a timed comparison', wholeNumber, 10_000)
    .option('--seed <number>', 'of tables and experiments', wholeNumber, 1)
    .option('--only <text>', `parts whose name contains it: ${Object.keys(PARTS).join(', ')}`, '');
  command.option('--cases <text>', 'cases whose name contains it', '');
  const options = command.parse(args, { from: 'user' }).opts<Options>();
  for (const [name, part] of Object.entries(PARTS)) if (name.includes(options.only)) part(options);
}
