/**
 * `npm run bench metrics`: queries for metrics over the requests that `npm run bench seed` has made. Each is answered over HTTP
 * from wherever the API reads it, and in the same run from rows alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig } from '#platform/config/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { runMetricsQuery } from '../../api/metrics/mod.ts';
import { startApi } from '../../api/mod.ts';
import { rebuildRollups } from '../../sinks/rollups/mod.ts';
import { applyAllChanges, registerRollups } from '../support/rollups.ts';
import { describeMachine } from './machine.ts';
import { type MetricsCase, metricsCases } from './metrics/cases.ts';
import { wholeNumber } from './query/seed.ts';
import { readSeeded, type Seeded, seedCluster, startSeeded } from './seed/cluster.ts';
import { formatTable, percentile } from './table.ts';

type Options = {
  dataDir?: string;
  requests: number;
  rounds: number;
  rowRounds: number;
  only: string;
  built: boolean;
};

const WARM_UP_ROUNDS = 3;
/** The bound for what a dashboard asks for. */
const TARGET_P50_MS = 50;

const print = (line: string) => process.stdout.write(`${line}\n`);

async function timed(call: () => Promise<unknown>, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = rounds > WARM_UP_ROUNDS ? -WARM_UP_ROUNDS : 0; round < rounds; round += 1) {
    const start = performance.now();
    await call();
    if (round >= 0) times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right);
}

async function ask(url: string, key: string, { path, body }: MetricsCase): Promise<{ source?: string }> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return (JSON.parse(text) as { data: { source?: string } }).data;
}

async function measureAll(url: string, sql: Sql, seeded: Seeded, options: Options): Promise<void> {
  const table = [['milliseconds', 'p50', 'p99', 'from', 'rows p50', 'ratio', '']];
  const { organizationId, key } = seeded;
  for (const one of metricsCases(seeded.endMs).filter(({ name }) => name.includes(options.only))) {
    process.stderr.write(`${one.name}\n`);
    const { source = '' } = await ask(url, key, one);
    const times = await timed(() => ask(url, key, one), options.rounds);
    const p50 = percentile(times, 0.5);
    const { query } = one;
    const rows =
      query === null || options.rowRounds === 0
        ? null
        : await timed(
            () =>
              inOrganization(
                sql,
                organizationId,
                (tx) => runMetricsQuery(tx, organizationId, query, 'rows'),
                {
                  isSnapshot: true,
                },
              ),
            options.rowRounds,
          );
    const rowsP50 = rows === null ? null : percentile(rows, 0.5);
    process.stderr.write(
      `  p50 ${p50.toFixed(1)} ms from ${source}, rows ${rowsP50?.toFixed(0) ?? 'not asked'}\n`,
    );
    const isSlow = one.hasTarget && p50 > TARGET_P50_MS;
    table.push([
      one.name,
      p50.toFixed(1),
      percentile(times, 0.99).toFixed(1),
      source,
      rowsP50?.toFixed(0) ?? '',
      rowsP50 === null ? '' : (rowsP50 / p50).toFixed(1),
      isSlow ? 'over the target' : one.hasTarget ? '' : 'no target',
    ]);
  }
  print(
    `${describeMachine()}\n${seeded.requests} requests over ${seeded.days} days; each query ${options.rounds} times\n`,
  );
  print(formatTable(table));
  print(`\nThe target is p50 ${TARGET_P50_MS} ms`);
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench metrics')
    .description('How quickly metrics and facets are answered from roll-ups, and from rows')
    .option('--data-dir <directory>', 'of a cluster made by bench seed; default: a new one')
    .option('--requests <number>', 'requests of a new one', wholeNumber, 1_000_000)
    .option('--only <text>', 'queries whose name contains it', '')
    .option('--rounds <number>', 'calls of each query', wholeNumber, 30)
    .option('--row-rounds <number>', 'of each query over rows; 0: none', Number, 3)
    .option('--built', 'the roll-ups are there already', false)
    .parse(args, { from: 'user' });
  const options = command.opts<Options>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'assay-bench-metrics-'));
  if (readSeeded(dataDir) === null) {
    await seedCluster(dataDir, { requests: options.requests, days: 90, seed: 1, endMs: Date.now() }, log);
  }
  const { server, seeded } = await startSeeded(dataDir, log);
  const connect = (role?: 'assay_api') =>
    connectPostgres({
      url: server.url,
      max: 1,
      applicationName: 'bench',
      statementTimeoutMs: 0,
      ...(role === undefined ? {} : { role }),
    });
  const [owner, sql] = [connect(), connect('assay_api')];
  try {
    if (!options.built) {
      const startedAt = performance.now();
      await registerRollups(owner);
      await applyAllChanges(owner);
      const { recomputed } = await rebuildRollups(owner, null);
      await owner`vacuum (analyze) assay.rollup_totals, assay.rollup_histograms, assay.rollup_values, assay.rollup_scores`;
      print(`Made ${recomputed} buckets in ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
    }
    const read = readConfig({
      DATABASE_URL: server.url,
      API_PORT: '0',
      LOG_LEVEL: 'warn',
      DATA_DIR: dataDir,
    });
    if (!read.ok) throw new Error(read.problems.join('; '));
    const api = await startApi({ config: read.config, log, clock: systemClock });
    await measureAll(`${api.address}`, sql, seeded, options);
    await api.stop();
  } finally {
    await Promise.all([owner.end(), sql.end()]);
    await server.stop();
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}
