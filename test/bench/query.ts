/**
 * `npm run bench query`: a million requests of one organization in an embedded PostgreSQL, asked through the real HTTP
 * API. Times the first page of each single-leaf filter on an indexed field, the sorts, counts and a deep offset.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig } from '#platform/config/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { migrate } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startApi } from '../../api/mod.ts';
import { startEmbeddedPostgres } from '../../supervisor/postgres/server.ts';
import { SEEDED } from '../support/seed-requests.ts';
import { describeMachine } from './machine.ts';
import { type QueryCase, queryCases } from './query/cases.ts';
import { seed, wholeNumber } from './query/seed.ts';
import { formatTable, percentile } from './table.ts';

type Options = { requests: number; rounds: number; only: string };

const WARM_UP_ROUNDS = 3;
/** The bound for the first page of an indexed filter. */
const TARGET_P50_MS = 10;

const print = (line: string) => process.stdout.write(`${line}\n`);

async function measure(
  url: string,
  key: string,
  { path = '/v1/request/query', body }: QueryCase,
  rounds: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    const start = performance.now();
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
    if (round >= 0) times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right);
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench query')
    .description('How quickly queries answer over many requests of one organization')
    .option('--requests <number>', 'requests to seed', wholeNumber, 1_000_000)
    .option('--only <text>', 'queries whose name contains it', '')
    .option('--rounds <number>', 'calls of each query', wholeNumber, 30)
    .parse(args, { from: 'user' });
  const options = command.opts<Options>();
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-bench-query-'));
  const log = createLogger({ role: 'bench', level: 'warn' });
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    await migrate(server.url);
    const { key, sample } = await seed(server.url, options.requests);
    const read = readConfig({
      DATABASE_URL: server.url,
      API_PORT: '0',
      LOG_LEVEL: 'warn',
      DATA_DIR: dataDir,
    });
    if (!read.ok) throw new Error(read.problems.join('; '));
    const api = await startApi({ config: read.config, log, clock: systemClock });
    const cases = queryCases(sample, options.requests).filter(({ name }) => name.includes(options.only));
    await measureAll(`${api.address}`, key, cases, options);
    await api.stop();
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measureAll(url: string, key: string, cases: QueryCase[], options: Options): Promise<void> {
  const rows = [['milliseconds over HTTP, a page of 10', 'p50', 'p99', '']];
  let slow = 0;
  for (const one of cases) {
    process.stderr.write(`${one.name}\n`);
    const times = await measure(url, key, one, options.rounds);
    const p50 = percentile(times, 0.5);
    const isSlow = one.indexed && p50 > (one.targetMs ?? TARGET_P50_MS);
    if (isSlow) slow += 1;
    const figures = [p50, percentile(times, 0.99)].map((value) => value.toFixed(1));
    rows.push([one.name, ...figures, isSlow ? 'over the target' : one.indexed ? '' : 'no target']);
  }
  print(
    `${describeMachine()}\n${options.requests} requests over ${SEEDED.days} days; each query ${options.rounds} times\n`,
  );
  print(formatTable(rows));
  print(
    `\n${slow === 0 ? 'Every' : `Not every (${slow} do not)`} indexed query answers within its target: p50 ${TARGET_P50_MS} ms, pages of sessions 50 ms`,
  );
}
