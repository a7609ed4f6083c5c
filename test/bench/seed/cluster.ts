/** A seeded cluster: where it is, and what benchmarks have to know of it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { connectPostgres, migrate } from '#platform/postgres/mod.ts';
import { startEmbeddedPostgres } from '../../../supervisor/postgres/server.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { LOADING, loadSeed } from './load.ts';
import { SeededRecords, type SeedOptions } from './rows.ts';

/** API keys of the seeded organization; the first one is the benchmarks'. */
const KEYS = 20;

/** What is kept beside the cluster. */
export type Seeded = SeedOptions & { key: string };
export type SeedRequest = Pick<SeedOptions, 'requests' | 'days' | 'seed' | 'endMs'>;

const describedIn = (dataDir: string) => join(dataDir, 'seeded.json');

/** Returns what a data directory was seeded with; null when it was not. */
export function readSeeded(dataDir: string): Seeded | null {
  const path = describedIn(dataDir);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Seeded) : null;
}

async function fill(url: string, wanted: SeedRequest): Promise<Seeded> {
  await migrate(url);
  const sql = connectPostgres({ url, max: 1, applicationName: 'bench-seed', statementTimeoutMs: 0 });
  try {
    const { organizationId } = await createOrganization(sql, { name: 'bench', tier: 'enterprise' });
    const keys = [];
    for (let number = 1; number <= KEYS; number += 1) {
      keys.push(
        await createKey(sql, { organizationId, scopes: ['gateway', 'read', 'write'], name: `key ${number}` }),
      );
    }
    const options = { ...wanted, organizationId, apiKeyIds: keys.map(({ record }) => record.keyId) };
    const bar = new SingleBar({
      format: 'seeding {bar} {value}/{total} requests, {duration_formatted}, {eta_formatted} left',
      noTTYOutput: true,
      notTTYSchedule: 10_000,
    });
    bar.start(wanted.requests, 0);
    await loadSeed(sql, new SeededRecords(options), (done) => bar.update(done));
    bar.stop();
    return { ...options, key: keys[0]!.key };
  } finally {
    await sql.end();
  }
}

/**
 * Seeds a new cluster in a directory, and stops it.
 * @throws Error when the directory was seeded, or begun to be, already
 */
export async function seedCluster(dataDir: string, wanted: SeedRequest, log: Logger): Promise<Seeded> {
  if (existsSync(join(dataDir, 'postgres'))) {
    throw new Error(`${dataDir} holds a cluster already: remove the directory to seed it again`);
  }
  const server = await startEmbeddedPostgres({ dataDir, log, settings: LOADING });
  try {
    const seeded = await fill(server.url, wanted);
    writeFileSync(describedIn(dataDir), `${JSON.stringify(seeded, null, 2)}\n`, { mode: 0o600 });
    return seeded;
  } finally {
    await server.stop();
  }
}

/**
 * Starts a seeded cluster.
 * @throws Error when the directory is not seeded
 */
export async function startSeeded(dataDir: string, log: Logger): Promise<Cluster & { seeded: Seeded }> {
  const seeded = readSeeded(dataDir);
  if (seeded === null)
    throw new Error(`${dataDir} is not seeded: run npm run bench seed -- --data-dir ${dataDir}`);
  return { ...(await startCluster(dataDir, log)), seeded };
}

/** Days of the requests of clusters that benchmarks seed for themselves. */
const DAYS = 90;

/** Starts a seeded cluster, and seeds it first when it is not. */
export async function openSeeded(
  dataDir: string,
  requests: number,
  log: Logger,
): Promise<Cluster & { seeded: Seeded }> {
  if (readSeeded(dataDir) === null) {
    await seedCluster(dataDir, { requests, days: DAYS, seed: 1, endMs: Date.now() }, log);
  }
  return await startSeeded(dataDir, log);
}
