/** The parts that benchmarks of the management API share: a PostgreSQL, and the API over it in a process of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { migrate } from '#platform/postgres/mod.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../supervisor/postgres/server.ts';
import { startHelper } from './helper.ts';

/** A running server, which stops at the end of its scope, and Assay's data directory. */
export type Cluster = EmbeddedPostgres & AsyncDisposable & { dataDir: string };

/** Returns the directory that was given; else a new one, which is removed at the end of its scope. */
export function dataDirectory(name: string, given?: string): Disposable & { path: string } {
  const path = given ?? mkdtempSync(join(tmpdir(), `assay-bench-${name}-`));
  return {
    path,
    [Symbol.dispose]() {
      if (given === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Starts PostgreSQL with the settings that Assay itself gives it, on the schema of this build. */
export async function startCluster(dataDir: string, log: Logger): Promise<Cluster> {
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    await migrate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...server, dataDir, [Symbol.asyncDispose]: () => server.stop() };
}

/** Returns the configuration of a process of Assay over a cluster. */
export function configOver({ url, dataDir }: Pick<Cluster, 'url' | 'dataDir'>): Config {
  const read = readConfig({ DATABASE_URL: url, API_PORT: '0', LOG_LEVEL: 'warn', DATA_DIR: dataDir });
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.config;
}

/** Serves the API over a cluster until the end of its scope. */
export async function serveApi({
  url,
  dataDir,
}: Pick<Cluster, 'url' | 'dataDir'>): Promise<AsyncDisposable & { url: string; pid: number }> {
  let address = '';
  const script = new URL('./api-process.ts', import.meta.url);
  const helper = await startHelper<null, string>(script, [url, dataDir], (note) => {
    address = note;
  });
  return { url: address, pid: helper.pid, [Symbol.asyncDispose]: () => helper[Symbol.asyncDispose]() };
}
