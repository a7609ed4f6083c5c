/**
 * `npm run bench query`: a million requests of one organization in an embedded PostgreSQL, asked through the real HTTP
 * API. Times the first page of each single-leaf filter on an indexed field, the sorts, counts and a deep offset.
 */
import { Command } from 'commander';
import { createLogger } from '#platform/observability/log.ts';
import { SEEDED } from '../support/seed-requests.ts';
import { type Call, callerOf, timed } from './calls.ts';
import { dataDirectory, serveApi, startCluster } from './cluster.ts';
import { describeMachine } from './machine.ts';
import { wholeNumber } from './options.ts';
import { measureBodies, seedBodies } from './query/bodies.ts';
import { type QueryCase, queryCases } from './query/cases.ts';
import { seed } from './query/seed.ts';
import { formatTable, percentile, print } from './table.ts';

type Options = { requests: number; rounds: number; only: string; bodies?: number };

/** The bound for the first page of an indexed filter. */
const TARGET_P50_MS = 10;

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench query')
    .description('How quickly queries answer over many requests of one organization')
    .option('--requests <number>', 'requests to seed', wholeNumber, 1_000_000)
    .option('--only <text>', 'queries whose name contains it', '')
    .option('--rounds <number>', 'calls of each query', wholeNumber, 30)
    .option(
      '--bodies <number>',
      'in place of all that, queries that read the bodies of so many large requests',
      wholeNumber,
    )
    .parse(args, { from: 'user' });
  const options = command.opts<Options>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  using directory = dataDirectory('query');
  await using cluster = await startCluster(directory.path, log);
  if (options.bodies !== undefined) {
    const key = await seedBodies(cluster.url, options.bodies);
    await using api = await serveApi(cluster);
    print(
      `${describeMachine()}\n${await measureBodies(cluster.url, callerOf(api.url, key), options.rounds)}`,
    );
    return;
  }
  const { key, sample } = await seed(cluster.url, options.requests);
  await using api = await serveApi(cluster);
  const cases = queryCases(sample, options.requests).filter(({ name }) => name.includes(options.only));
  await measureAll(callerOf(api.url, key), cases, options);
}

async function measureAll(call: Call, cases: QueryCase[], options: Options): Promise<void> {
  const rows = [['milliseconds over HTTP, a page of 10', 'p50', 'p99', '']];
  let slow = 0;
  for (const one of cases) {
    process.stderr.write(`${one.name}\n`);
    const times = await timed(() => call(one.path, one.body), options.rounds);
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
