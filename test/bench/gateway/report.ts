/** The gateway benchmark's figures as tables: medians over rounds, and ratios. */
import { formatTable, median } from '../table.ts';
import type { Figures } from './measure.ts';
import { describePinning } from './process.ts';
import type { Settled, TargetName } from './target.ts';

export type Results = {
  machine: string;
  /** By scenario, then target: one entry a round. */
  figures: Record<string, Partial<Record<TargetName, Figures[]>>>;
  /** After each measurement of this gateway: calls made in all, those of the measurement, and their records. */
  settled: ({ scenario: string; calls: number; made: number } & Settled)[];
};

type Column = { title: string; digits: number; of(figures: Figures): number; added?: boolean };

const COLUMNS: readonly Column[] = [
  { title: 'p50 ms', digits: 3, of: (figures) => figures.totalP50, added: true },
  { title: 'p99 ms', digits: 3, of: (figures) => figures.totalP99, added: true },
  { title: 'first byte p50', digits: 3, of: (figures) => figures.firstByteP50, added: true },
  { title: 'p99', digits: 3, of: (figures) => figures.firstByteP99, added: true },
  { title: 'calls/s', digits: 0, of: (figures) => figures.callsPerSecond },
  { title: 'CPU µs/call', digits: 1, of: (figures) => figures.cpuMicrosecondsPerCall },
];

function middle(rounds: readonly Figures[] | undefined, column: Column): number {
  return median((rounds ?? []).map(column.of));
}

function shown(value: number, digits: number, unit = ''): string {
  return Number.isFinite(value) ? `${value.toFixed(digits)}${unit}` : '–';
}

/** All of it as text. */
export function report(results: Results): string {
  const sections = Object.entries(results.figures).map(([name, targets]) => section(name, targets));
  const all = Object.values(results.figures).flatMap((targets) => Object.entries(targets));
  return [
    `\n${results.machine}`,
    ...describePinning(),
    'CPU: user and system time of the gateway process with all its threads, from /proc/<pid>/stat.',
    '"added" is the difference to calling the provider directly; medians over rounds.\n',
    ...sections,
    ...settledLines(results),
    ...all.flatMap(([target, rounds]) => troubles(target, rounds)),
    '',
  ].join('\n');
}

function section(name: string, targets: Partial<Record<TargetName, Figures[]>>): string {
  const value = (target: TargetName, column: Column) => middle(targets[target], column);
  const rows = (Object.keys(targets) as TargetName[]).map((target) => [
    target,
    ...COLUMNS.map((column) => shown(value(target, column), column.digits)),
  ]);
  const added = (['ours', 'peer'] as const)
    .filter((target) => targets[target] !== undefined && targets.direct !== undefined)
    .map((target) => [
      `${target}, added`,
      ...COLUMNS.map((column) =>
        column.added ? shown(value(target, column) - value('direct', column), column.digits) : '',
      ),
    ]);
  const ratio = (over: TargetName, under: TargetName) => [
    `${over} / ${under}`,
    ...COLUMNS.map((column) => shown(value(over, column) / value(under, column), 2, '×')),
  ];
  const ratios = [];
  if (targets.ours !== undefined && targets.direct !== undefined) ratios.push(ratio('ours', 'direct'));
  if (targets.ours !== undefined && targets.peer !== undefined)
    ratios.push(ratio('peer', 'ours'), ratio('ours', 'peer'));
  return `${formatTable([[name, ...COLUMNS.map((column) => column.title)], ...rows, ...added, ...ratios])}\n`;
}

/** What logging is behind after a load that fills a core: how much, and how soon it is caught up. */
function settledLines(results: Results): string[] {
  const { settled } = results;
  if (settled.length === 0) return [];
  const missing = settled.filter((one) => one.records !== one.calls);
  const byScenario = Map.groupBy(settled, (one) => one.scenario);
  const rows = [...byScenario].map(([scenario, all]) => [
    scenario,
    shown(median(all.map((one) => one.made)), 0),
    shown(median(all.map((one) => one.backlog)), 0),
    shown(median(all.map((one) => one.seconds)), 2),
  ]);
  return [
    formatTable([
      ['ours: records behind', 'calls made', 'not yet found at the end', 'found all after, s'],
      ...rows,
    ]),
    '',
    ...missing.map((one) => `ours: ${one.records} records of ${one.calls} calls after "${one.scenario}"`),
  ];
}

function troubles(target: string, rounds: readonly Figures[]): string[] {
  const failures = rounds.reduce((sum, round) => sum + round.failures, 0);
  const unlogged = rounds.reduce((sum, round) => sum + round.unlogged, 0);
  const first = rounds.find((round) => round.failure !== null)?.failure;
  return [
    ...(failures > 0 ? [`${target}: ${failures} answers were wrong, the first: ${first}`] : []),
    ...(unlogged > 0 ? [`${target}: ${unlogged} calls were not logged`] : []),
  ];
}
