/**
 * `npm run bench seed`: seeds one organization with many requests by COPY, in a cluster of its own that other benchmarks
 * start. Ten million take some 16 GB of disk.
 */
import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { createLogger } from '#platform/observability/log.ts';
import { wholeNumber } from './options.ts';
import { readSeeded, seedCluster, startSeeded } from './seed/cluster.ts';
import { print } from './table.ts';

type Options = { requests: number; days: number; seed: number; end: number; dataDir: string; serve: boolean };

const HOUR_MS = 3_600_000;

function moment(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a moment, such as 2026-11-23T07:00:00Z.');
  return ms;
}

/** Runs the command with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench seed')
    .description('Seeds many requests of one organization, or starts the cluster that has them')
    .option('--requests <number>', 'requests', wholeNumber, 10_000_000)
    .option('--days <number>', 'days before the end', wholeNumber, 90)
    .option('--seed <number>', 'the same seed and end make the same requests', wholeNumber, 1)
    .option('--end <moment>', 'when the last request was made; default: the last full hour', moment)
    .option('--data-dir <directory>', 'of the cluster', '.data/bench-seed')
    .option(
      '--serve',
      'start the cluster afterwards, or one that is seeded already, until it is interrupted',
      false,
    )
    .parse(args, { from: 'user' });
  const { requests, days, seed, end, dataDir, serve } = command.opts<Options>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  if (!serve || readSeeded(dataDir) === null) {
    const endMs = end ?? Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const startedAt = performance.now();
    await seedCluster(dataDir, { requests, days, seed, endMs }, log);
    print(`Seeded in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
  if (!serve) return;
  await using cluster = await startSeeded(dataDir, log);
  const { url, seeded, exited } = cluster;
  print(`DATABASE_URL=${url}\norganization ${seeded.organizationId}\nkey ${seeded.key}`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), exited]);
}
