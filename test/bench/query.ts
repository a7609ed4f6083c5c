/**
 * `npm run bench query`: a million requests of one organization in an embedded PostgreSQL, asked through the real HTTP
 * API. Times the first page of each single-leaf filter on an indexed field, the sorts, counts and a deep offset.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { readConfig } from '#platform/config/mod.ts';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, migrate } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startApi } from '../../api/mod.ts';
import { startEmbeddedPostgres } from '../../supervisor/postgres/server.ts';
import { generateRequests, SEEDED } from '../support/seed-requests.ts';
import { describeMachine } from './machine.ts';
import { type QueryCase, queryCases, type Sample } from './query/cases.ts';
import { formatTable, percentile } from './table.ts';

type Options = { requests: number; rounds: number };

const WARM_UP_ROUNDS = 3;
/** The bound for the first page of an indexed filter. */
const TARGET_P50_MS = 10;

const print = (line: string) => process.stdout.write(`${line}\n`);

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a positive whole number.');
  return Number(text);
}

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

async function seed(url: string, count: number): Promise<{ key: string; sample: Sample }> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
  const { organizationId } = await createOrganization(sql, { name: 'bench' });
  const { key } = await createKey(sql, { organizationId, scopes: ['read'] });
  const bar = new SingleBar({
    format: 'seeding {bar} {value}/{total} requests, {eta_formatted} left',
    noTTYOutput: true,
    notTTYSchedule: 10_000,
  });
  bar.start(count, 0);
  await generateRequests(sql, {
    organizationId,
    count,
    endMs: Date.now(),
    onProgress: (done) => bar.update(done),
  });
  bar.stop();
  const [sample] = await sql<[Sample]>`
    select request_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at, user_id,
      properties_folded ->> 'conversation' as conversation
    from assay.requests where user_id is not null order by created_at offset ${Math.floor(count / 2)} limit 1`;
  await sql.end();
  return { key, sample };
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench query')
    .description('How quickly queries answer over many requests of one organization')
    .option('--requests <number>', 'requests to seed', wholeNumber, 1_000_000)
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
    await measureAll(`${api.address}`, key, queryCases(sample, options.requests), options);
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
