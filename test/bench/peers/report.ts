/** The figures as Markdown: a table of the targets, and one for each scenario. */
import { median } from '../table.ts';
import type { Figures } from './measure.ts';
import type { Scenario } from './scenario.ts';

export type Results = {
  command: string;
  machine: string;
  /** How cores are shared out. */
  pinning: readonly string[];
  rounds: number;
  seconds: number;
  targets: { name: string; version: string; logs: string }[];
  scenarios: { scenario: Scenario; figures: Record<string, Figures[]> }[];
};

type Column = { title: string; of(figures: Figures): number | null; streamsOnly?: boolean };

const MB = 1_000_000;

const COLUMNS: readonly Column[] = [
  { title: 'calls/s', of: ({ callsPerSecond }) => callsPerSecond },
  { title: 'p50, ms', of: ({ totalP50Ms }) => totalP50Ms },
  { title: 'p99, ms', of: ({ totalP99Ms }) => totalP99Ms },
  { title: 'first byte p50, ms', of: ({ firstByteP50Ms }) => firstByteP50Ms },
  { title: 'first byte p99, ms', of: ({ firstByteP99Ms }) => firstByteP99Ms },
  { title: 'gap p99, ms', of: ({ gapP99Ms }) => gapP99Ms, streamsOnly: true },
  {
    title: 'CPU a call, gateway, µs',
    of: ({ gatewayCpuMicrosecondsPerCall }) => gatewayCpuMicrosecondsPerCall,
  },
  { title: 'CPU a call, all, µs', of: ({ allCpuMicrosecondsPerCall }) => allCpuMicrosecondsPerCall },
  { title: 'peak memory, MB', of: ({ peakBytes }) => peakBytes / MB },
];

/** Three digits that count; whole numbers and those from 100 on without a point. */
function shownNumber(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US');
  if (value >= 10) return value.toFixed(1);
  return value.toFixed(value >= 1 ? 2 : 3);
}

/** The median with least and most; a dash where there is no figure. */
function shown(values: readonly (number | null)[]): string {
  const numbers = values.filter((value) => value !== null && Number.isFinite(value)) as number[];
  if (numbers.length === 0) return '–';
  const middle = shownNumber(median(numbers));
  if (numbers.length === 1) return middle;
  return `${middle} (${shownNumber(Math.min(...numbers))}–${shownNumber(Math.max(...numbers))})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** How much of the machine was not the benchmark's. */
function othersLine(scenarios: Results['scenarios']): string[] {
  const shares = scenarios
    .flatMap(({ figures }) => Object.values(figures).flat())
    .map(({ shareOfOthers }) => shareOfOthers)
    .filter(Number.isFinite);
  if (shares.length === 0) return [];
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  return [
    `Other programs took ${percent(median(shares))} of the two cores at the median, ${percent(Math.max(...shares))} at most.`,
  ];
}

/** Wrong answers. */
function troubles(name: string, rounds: readonly Figures[]): string[] {
  const failures = rounds.reduce((sum, round) => sum + round.failures, 0);
  const calls = rounds.reduce((sum, round) => sum + round.calls, 0);
  const firstFailure = rounds.find((round) => round.firstFailure !== null)?.firstFailure;
  return failures === 0
    ? []
    : [`- ${name}: ${failures} calls failed beside ${calls} right ones, the first: ${firstFailure}`];
}

/** How far the log was behind when the load ended. Calls of a log that cannot be asked are not told of. */
function backlogs(name: string, rounds: readonly Figures[]): string[] {
  const settled = rounds.flatMap((round) => (round.settled === null ? [] : [round.settled]));
  if (settled.length === 0) return [];
  const missing = settled.reduce((most, { missing }) => Math.max(most, missing), 0);
  return [
    `- ${name}: ${shown(settled.map(({ backlog }) => backlog))} of ${shown(rounds.map(({ calls }) => calls))} calls were not in the log yet at the end, the last ${shown(settled.map(({ seconds }) => seconds))} s later${missing > 0 ? `; **${missing} are missing**` : ''}`,
  ];
}

function section({ scenario, figures }: Results['scenarios'][number]): string {
  const columns = COLUMNS.filter(({ streamsOnly }) => streamsOnly !== true || scenario.pace !== null);
  const rows = Object.entries(figures).map(([name, rounds]) => [
    name,
    ...columns.map((column) => shown(rounds.map(column.of))),
  ]);
  const notes = Object.entries(figures).flatMap(([name, rounds]) => [
    ...backlogs(name, rounds),
    ...troubles(name, rounds),
  ]);
  return [
    `### ${scenario.name}`,
    '',
    table(['', ...columns.map(({ title }) => title)], rows),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
  ].join('\n');
}

/** Returns all of it as Markdown. */
export function report(results: Results): string {
  const { command, machine, pinning, rounds, seconds, targets, scenarios } = results;
  const spread = rounds > 1 ? ' Medians, with least and most in brackets.' : '';
  return [
    `\`${command}\`: ${machine}.`,
    `${rounds} interleaved ${rounds === 1 ? 'round' : 'rounds'} of ${seconds} s.${spread}`,
    '',
    ...pinning,
    'CPU is user and system time. "All" is everything that the target started, until its log has settled.',
    'Memory is the most that the gateway held during the measurement.',
    ...othersLine(scenarios),
    '',
    table(
      ['target', 'version', 'what it logs in this test'],
      targets.map(({ name, version, logs }) => [name, version, logs]),
    ),
    '',
    ...scenarios.map(section),
  ].join('\n');
}
