/** From the gateway's answer to the row in Postgres: at a steady rate, as fast as rows can follow, and of a backlog. */
import type { Sql } from '#platform/postgres/mod.ts';
import { jobFor, type LoadGenerator } from '../gateway/measure.ts';
import { cpuMicroseconds } from '../gateway/process.ts';
import { percentile } from '../table.ts';
import type { Assembly, CpuTimes } from './assembly.ts';
import { watchRows } from './watch.ts';

/**
 * Calls begun a second; "follow": as many as become rows; "backlog": as many as the gateway takes while ingest stands still,
 * which alone is measured then, from the moment when it goes on.
 */
export type Rate = number | 'follow' | 'backlog';

export type Load = {
  rate: Rate;
  /** Of a request's body, and of an answer's. */
  bytes: number;
  seconds: number;
};

export type EndToEnd = {
  calls: number;
  /** The first answer that was not what it should be. */
  failure: string | null;
  rows: number;
  /** From the first call until the last row was there; of a backlog, since ingest goes on. */
  rowsPerSecond: number;
  /** From the last byte of a call's answer to its row: milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds a record, within the same time. */
  cpu: CpuTimes;
};

const CONNECTIONS = 64;
const SAMPLES_PER_SECOND = 50;
/** Of a load without a rate, bytes on their way to rows: enough for ingest to be busy always, not much more. */
const BYTES_BEHIND = 4 * 1024 * 1024;
const LEAST_RECORDS_BEHIND = 200;
/** Calls of a backlog for each one that is looked for: fewer than a batch has. */
const BACKLOG_SAMPLE_EVERY = 200;
/** The load goes on as the calls of the sample are seen: often, while so many are on their way. */
const SAMPLES_BEHIND = 40;
const COUNT_ATTEMPTS = 100;

function paceOf({ rate, bytes }: Load) {
  if (rate === 'backlog') return { sampleEvery: BACKLOG_SAMPLE_EVERY };
  if (rate !== 'follow') return { perSecond: rate, sampleEvery: Math.ceil(rate / SAMPLES_PER_SECOND) };
  const maxBehind = Math.max(LEAST_RECORDS_BEHIND, Math.round(BYTES_BEHIND / (2 * bytes)));
  return { maxBehind, sampleEvery: Math.floor(maxBehind / SAMPLES_BEHIND) };
}

async function countRows(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int4 from assay.requests`;
  return row!.count;
}

/** The rows that have come, once there are as many as expected, or no more are coming. */
async function countNewRows(sql: Sql, before: number, expected: number): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const rows = (await countRows(sql)) - before;
    if (rows >= expected || attempt === COUNT_ATTEMPTS) return rows;
  }
}

/** Puts a load on the gateway and follows it to the rows. */
export async function measureEndToEnd(
  assembly: Assembly,
  generator: LoadGenerator,
  load: Load,
): Promise<EndToEnd> {
  const { watcher, target } = assembly;
  const readCpu = (): CpuTimes => ({ ...assembly.cpu(), load: cpuMicroseconds(generator.pid) });
  const rowsBefore = await countRows(watcher);
  const scenario = { name: 'ingest', bytes: load.bytes, stream: false, connections: CONNECTIONS };
  const watch = watchRows(watcher, (answered) => generator.seen(answered.number));
  const job = { ...jobFor(target, scenario, { seconds: load.seconds }), ...paceOf(load) };
  if (load.rate === 'backlog') assembly.holdIngest();
  let startedAt = performance.now();
  let cpuBefore = readCpu();
  const found = await generator.run(job, watch.add).finally(() => {
    if (load.rate !== 'backlog') return;
    startedAt = performance.now();
    cpuBefore = readCpu();
    assembly.releaseIngest();
  });
  const waits = await watch.finish();
  const rows = await countNewRows(watcher, rowsBefore, found.calls);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuAfter = readCpu();
  return {
    calls: found.calls,
    failure: found.failure,
    rows,
    rowsPerSecond: rows / seconds,
    p50: percentile(waits, 0.5),
    p99: percentile(waits, 0.99),
    cpu: Object.fromEntries(
      Object.entries(cpuAfter).map(([name, after]) => [name, (after - cpuBefore[name]!) / found.calls]),
    ),
  };
}
