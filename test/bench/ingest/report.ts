/** The ingest benchmark's figures as a table. */
import { HAS_TWO_CORES } from '../gateway/process.ts';
import { formatTable } from '../table.ts';
import type { CpuTimes } from './assembly.ts';
import type { Bare } from './bare.ts';
import type { Disk } from './disk.ts';
import type { EndToEnd, Rate } from './end-to-end.ts';

/** All that was measured with bodies of one size over one transport. */
export type Round = {
  bytes: number;
  transport: 'outbox' | 'NATS';
  loads: { rate: Rate; found: EndToEnd }[];
  /** Null: not asked for. */
  disk: Disk | null;
  bare: Bare;
};

const PROCESSES = ['gateway', 'nats', 'ingest', 'postgres', 'provider', 'load'] as const;

/** A rate in words. */
export function nameOf(rate: Rate): string {
  if (rate === 'follow') return 'as rows follow';
  return rate === 'backlog' ? 'a backlog' : `${rate} calls/s`;
}

function microseconds(cpu: CpuTimes): string[] {
  const known = PROCESSES.map((name) => cpu[name]);
  const total = known.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  return [...known, total].map((value) => (value === undefined ? '' : value.toFixed(0)));
}

function section({ bytes, transport, loads, disk, bare }: Round): string {
  const head = [
    `2 × ${bytes / 1_024} KB, ${transport}`,
    'calls',
    'rows/s',
    'p50 ms',
    'p99 ms',
    ...PROCESSES,
    'all, µs',
  ];
  const rows = loads.map(({ rate, found }) => [
    nameOf(rate),
    String(found.calls),
    found.rowsPerSecond.toFixed(0),
    found.p50.toFixed(0),
    found.p99.toFixed(0),
    ...microseconds(found.cpu),
  ]);
  const bareRow = ['bare inserts', '', bare.rowsPerSecond.toFixed(0), '', '', ...microseconds(bare.cpu)];
  const storing = (cpu: CpuTimes) => cpu.ingest! + cpu.postgres!;
  const lines = [
    formatTable([head, ...rows, bareRow]),
    ...loads
      .filter(({ rate }) => typeof rate === 'string')
      .map(
        ({ rate, found }) =>
          `${nameOf(rate)} / bare inserts: rows a second ${(found.rowsPerSecond / bare.rowsPerSecond).toFixed(2)} ×, ` +
          `CPU of ingest and Postgres ${(storing(found.cpu) / storing(bare.cpu)).toFixed(2)} ×`,
      ),
    ...(disk === null ? [] : [describeDisk(disk)]),
    ...loads.flatMap(({ found }) => troubles(found)),
  ];
  return `${lines.join('\n')}\n`;
}

function describeDisk({ before, after, compressedAfter, givenBackAfter }: Disk): string {
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  return (
    `bodies on disk: ${percent(before)} of their bytes after the last load, all compressed ${compressedAfter.toFixed(0)} s ` +
    `later, ${percent(after)} after ${givenBackAfter.toFixed(0)} s`
  );
}

function troubles({ calls, rows, failure }: EndToEnd): string[] {
  return [
    ...(failure === null ? [] : [`An answer was wrong: ${failure}`]),
    ...(rows === calls ? [] : [`${rows} rows of ${calls} calls`]),
  ];
}

/** All of it as text. */
export function report(machine: string, othersBusy: number, rounds: readonly Round[]): string {
  return [
    `\n${machine}`,
    'Load generator, provider, gateway, ingest, PostgreSQL, and NATS where it is used, share ' +
      `${HAS_TWO_CORES ? 'two cores' : 'all cores'}.`,
    ...(Number.isNaN(othersBusy)
      ? []
      : [
          `Processes that have nothing to do with it had ${(othersBusy * 100).toFixed(0)} % of them meanwhile.`,
        ]),
    'p50 and p99: from the last byte of an answer to its row. By process: CPU a record, µs, of all its threads.\n',
    ...rounds.map(section),
  ].join('\n');
}
