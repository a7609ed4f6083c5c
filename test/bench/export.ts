/**
 * `npm run bench export`: exports all requests of one organization from an embedded PostgreSQL over HTTP. Tells how many
 * records arrive in a second and how much memory the API process takes; the client is another process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setInterval } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createLogger } from '#platform/observability/log.ts';
import { dataDirectory, serveApi, startCluster } from './cluster.ts';
import type { ExportCase, ExportResult } from './export/client.ts';
import { describeMachine } from './machine.ts';
import { wholeNumber } from './options.ts';
import { seed } from './query/seed.ts';
import { formatTable, print } from './table.ts';

/** The bound for an export without bodies. */
const TARGET_RECORDS_PER_SECOND = 20_000;
const MIB = 1024 * 1024;
const SAMPLE_MS = 100;

/** Runs `work`; returns the CPU time of this process meanwhile, and its smallest and largest resident memory in MiB. */
async function watchProcess<Result>(
  work: Promise<Result>,
): Promise<{ result: Result; from: number; to: number; cpuUs: number }> {
  const abort = new AbortController();
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  const watching = (async () => {
    for await (const _ of setInterval(SAMPLE_MS, undefined, { signal: abort.signal })) {
      const mib = process.memoryUsage.rss() / MIB;
      [from, to] = [Math.min(from, mib), Math.max(to, mib)];
    }
  })().catch(() => {});
  const before = process.cpuUsage();
  const result = await work;
  const { user, system } = process.cpuUsage(before);
  abort.abort();
  await watching;
  return { result, from, to, cpuUs: user + system };
}

/** Exports in a process of its own, so that the client's work and memory are not the API's. */
async function exportElsewhere(one: ExportCase): Promise<ExportResult> {
  const client = fork(fileURLToPath(new URL('./export/client.ts', import.meta.url)), [JSON.stringify(one)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [result] = await once(client, 'message');
  return result as ExportResult;
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench export')
    .description('How quickly an export streams the requests of one organization, and in how much memory')
    .option('--requests <number>', 'requests to seed', wholeNumber, 300_000)
    .parse(args, { from: 'user' });
  const { requests } = command.opts<{ requests: number }>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  using directory = dataDirectory('export');
  await using cluster = await startCluster(directory.path, log);
  const { key } = await seed(cluster.url, requests);
  await using api = await serveApi(cluster);
  await measureAll({ url: api.url, key });
}

async function measureAll(target: { url: string; key: string }): Promise<void> {
  const all = { filter: 'all', format: 'ndjson' };
  const cases: [name: string, body: object, bytesPerSecond?: number][] = [
    ['warm-up', all],
    ['ndjson', all],
    ['ndjson, again', all],
    ['csv', { ...all, format: 'csv' }],
    ['ndjson with bodies', { ...all, bodies: true }],
    ['ndjson, a client of 8 MiB/s', all, 8 * MIB],
    ['one user', { ...all, filter: { request: { user_id: { equals: 'user-7' } } } }],
    ['property, one in three', { ...all, filter: { properties: { plan: { equals: 'pro' } } } }],
    ['body contains, rare', { ...all, filter: { request: { body: { contains: 'Question 777:' } } } }],
  ];
  const rows = [
    ['over HTTP', 'records', 'seconds', 'records/s', 'API µs of CPU a record', 'MiB', 'API process, MiB'],
  ];
  for (const [name, body, bytesPerSecond] of cases) {
    process.stderr.write(`${name}\n`);
    const { result, from, to, cpuUs } = await watchProcess(
      exportElsewhere({ ...target, body, ...(bytesPerSecond === undefined ? {} : { bytesPerSecond }) }),
    );
    const { records, bytes, ms } = result;
    rows.push([
      name,
      String(records),
      (ms / 1_000).toFixed(1),
      (records / (ms / 1_000)).toFixed(0),
      (cpuUs / records).toFixed(0),
      (bytes / MIB).toFixed(0),
      `${from.toFixed(0)} to ${to.toFixed(0)}`,
    ]);
  }
  print(`${describeMachine()}\n`);
  print(formatTable(rows));
  print(`\nThe target without bodies is ${TARGET_RECORDS_PER_SECOND} records/s`);
}
