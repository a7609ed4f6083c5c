/**
 * A data directory's PostgreSQL cluster, made and migrated once for all tests that start the whole product and are not
 * about its first start: they copy it. By the product's own code and with its own settings.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createLogger } from '#platform/observability/log.ts';
import { migrate } from '#platform/postgres/mod.ts';
import { startEmbeddedPostgres } from '../../supervisor/postgres/server.ts';
import { makeMemoryDirectory } from './memory-directory.ts';

/** Where it is, told by `npm test` to all tests. */
const VARIABLE = 'ASSAY_TEST_CLUSTER';
/** What of a data directory belongs to it. */
const PARTS = ['postgres', 'postgres.password'];

/** Makes it, in a temporary directory, which is the caller's to remove; `environment` tells other processes of it. */
export async function prepareCluster(): Promise<{ directory: string; environment: Record<string, string> }> {
  const directory = makeMemoryDirectory('assay-test-cluster-');
  const log = createLogger({ role: 'test', level: 'error' });
  const server = await startEmbeddedPostgres({ dataDir: directory, log });
  await migrate(server.url);
  await server.stop();
  return { directory, environment: { [VARIABLE]: directory } };
}

/** Puts a copy of it into a data directory that has none; does nothing where none was prepared. */
export async function copyPreparedCluster(dataDir: string): Promise<void> {
  const prepared = process.env[VARIABLE];
  if (prepared === undefined) return;
  // By `cp`: the files belong to the account that PostgreSQL runs under, and their copies must too.
  const copy = spawn('cp', ['-a', ...PARTS.map((part) => join(prepared, part)), dataDir], {
    stdio: 'inherit',
  });
  const [status] = await once(copy, 'exit');
  if (status !== 0) throw new Error(`Cannot copy the prepared cluster ${prepared}: status ${status}`);
}
