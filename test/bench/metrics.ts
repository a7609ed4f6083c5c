/**
 * `npm run bench metrics`: queries for metrics and facets over the requests that `npm run bench seed` has made. Each is answered
 * over HTTP from wherever the API reads it, and in the same run from rows alone. With `--incoming`, requests come in meanwhile,
 * and how far the roll-ups are behind them is told.
 */
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from '../../api/metrics/mod.ts';
import { type Call, callerOf, timed } from './calls.ts';
import { type Cluster, dataDirectory, serveApi } from './cluster.ts';
import { describeMachine } from './machine.ts';
import { type MetricsCase, metricsCases } from './metrics/cases.ts';
import { measureMeanwhile } from './metrics/meanwhile.ts';
import { type SeededOptions, seededCommand, wholeNumber } from './options.ts';
import { openSeeded, type Seeded } from './seed/cluster.ts';
import { makeRollups } from './seed/rollups.ts';
import { formatTable, percentile, print } from './table.ts';

type Options = SeededOptions & { rowRounds: number; seconds: number };

/** The bound for what a dashboard asks for. */
const TARGET_P50_MS = 50;
/** With requests coming in, queries ask until so long after the first of them: until they end, they have all of them. */
const AHEAD_MS = 3_600_000;

/** The parts that a case is measured with. */
type Measured = { call: Call; sql: Sql; seeded: Seeded; options: Options };

async function measureCase(one: MetricsCase, { call, sql, seeded, options }: Measured): Promise<string[]> {
  const { organizationId } = seeded;
  const { path, body, query } = one;
  const answer = (await call(path, body)) as { source: string; approximate?: boolean };
  const source = answer.approximate === true ? `newest ${answer.source}` : answer.source;
  const times = await timed(() => call(path, body), options.rounds);
  const p50 = percentile(times, 0.5);
  const fromRows = () =>
    inOrganization(sql, organizationId, (tx) => runMetricsQuery(tx, organizationId, query!, 'rows'), {
      isSnapshot: true,
    });
  const isAskedOfRows = query !== null && options.rowRounds > 0;
  const rowsP50 = isAskedOfRows ? percentile(await timed(fromRows, options.rowRounds), 0.5) : null;
  process.stderr.write(
    `  p50 ${p50.toFixed(1)} ms from ${source}, rows ${rowsP50?.toFixed(0) ?? 'not asked'}\n`,
  );
  const isSlow = one.hasTarget && p50 > TARGET_P50_MS;
  return [
    one.name,
    p50.toFixed(1),
    percentile(times, 0.99).toFixed(1),
    source,
    rowsP50?.toFixed(0) ?? '',
    rowsP50 === null ? '' : (rowsP50 / p50).toFixed(1),
    isSlow ? 'over the target' : one.hasTarget ? '' : 'no target',
  ];
}

async function measureAll(measured: Measured): Promise<void> {
  const { seeded, options } = measured;
  const table = [['milliseconds', 'p50', 'p99', 'from', 'rows p50', 'ratio', '']];
  const toMs = options.incoming > 0 ? Date.now() + AHEAD_MS : seeded.endMs;
  for (const one of metricsCases(seeded.endMs, toMs).filter(({ name }) => name.includes(options.only))) {
    process.stderr.write(`${one.name}\n`);
    table.push(await measureCase(one, measured));
  }
  print(
    `${describeMachine()}\n${seeded.requests} requests over ${seeded.days} days; each query ${options.rounds} times\n`,
  );
  print(formatTable(table));
  print(`\nThe target is p50 ${TARGET_P50_MS} ms`);
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const description = 'How quickly metrics and facets are answered from roll-ups, and from rows';
  const options = seededCommand('metrics', description, { rounds: 30 })
    .option('--row-rounds <number>', 'of each query over rows; 0: none', Number, 3)
    .option('--seconds <number>', 'for which requests come in at least, with --incoming', wholeNumber, 180)
    .parse(args, { from: 'user' })
    .opts<Options>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  using directory = dataDirectory('metrics', options.dataDir);
  await using cluster = await openSeeded(directory.path, options.requests, log);
  const shared = { url: cluster.url, applicationName: 'bench', statementTimeoutMs: 0 };
  const owner = connectPostgres({ ...shared, max: 1 });
  // One for the cases, one for looking how far the roll-ups are.
  const sql = connectPostgres({ ...shared, max: 2, role: 'assay_api' });
  try {
    await makeRollups(owner);
    await using api = await serveApi(cluster);
    const { seeded } = cluster;
    const measured = { call: callerOf(api.url, seeded.key), sql, seeded, options };
    if (!(options.incoming > 0)) await measureAll(measured);
    else await measureIncoming(measured, cluster, owner);
  } finally {
    await Promise.all([owner.end(), sql.end()]);
  }
}

async function measureIncoming(measured: Measured, cluster: Cluster, owner: Sql): Promise<void> {
  const { call, sql, seeded, options } = measured;
  const report = await measureMeanwhile(
    {
      cluster,
      organizationId: seeded.organizationId,
      call,
      owner,
      reader: sql,
      perSecond: options.incoming,
      leastMs: options.seconds * 1_000,
    },
    () => measureAll(measured),
  );
  print(`\n${report}`);
}
