/** What is measured: a provider in its own process, Assay as an operator runs it, and a way to look into its store. */
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { findStore } from '../../../supervisor/data-dir.ts';
import { type Assay, startAssay } from '../../support/assay.ts';
import { type NatsServer, startNats } from '../../support/nats.ts';
import { cpuMicroseconds, postmasterOf, treeCpuMicroseconds } from '../gateway/process.ts';
import type { Target } from '../gateway/target.ts';
import { startProvider } from '../gateway/targets.ts';

/** CPU time by process: microseconds. "postgres" is the server with all of its processes but the one of the `watcher`. */
export type CpuTimes = Record<string, number>;

export type Assembly = {
  /** Where calls go, with the headers that make a record of the usual kind. */
  target: Pick<Target, 'port' | 'path' | 'headers'>;
  sql: Sql;
  /** A connection for looks at what was stored, which are no part of what is measured. */
  watcher: Sql;
  /** CPU time used so far. */
  cpu(): CpuTimes;
  /** Stops ingest's process where it is, until `releaseIngest`. */
  holdIngest(): void;
  releaseIngest(): void;
  stop(): Promise<void>;
};

const STATEMENT_TIMEOUT_MS = 120_000;
const ANNOUNCE_TIMEOUT_MS = 10_000;

async function connect(assay: Assay, applicationName: string): Promise<Sql> {
  const url = await findStore(assay.dataDir, ANNOUNCE_TIMEOUT_MS);
  if (url === null) throw new Error('Assay does not say how its PostgreSQL is reached');
  return connectPostgres({
    url,
    max: 1,
    applicationName,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    // Stays the process whose CPU is told apart.
    silenceMs: 0,
  });
}

/** Starts it all. Bodies are of `bytes` each way; log entries go through NATS, or from disk to ingest without it. */
export async function startAssembly(bytes: number, transport: { nats: boolean }): Promise<Assembly> {
  const provider = await startProvider(bytes);
  const nats: NatsServer | null = transport.nats ? await startNats() : null;
  const assay = await startAssay({
    environment: {
      OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
      OPENAI_API_KEY: 'sk-benchmark',
      ...(nats === null ? {} : { NATS_URL: nats.url }),
    },
  });
  const sql = await connect(assay, 'bench-ingest');
  const watcher = await connect(assay, 'bench-ingest-watch');
  const [{ pid: watcherPid }] = await watcher<[{ pid: number }]>`select pg_backend_pid() as pid`;
  const processes = {
    gateway: assay.pidOf('gateway'),
    ingest: assay.pidOf('ingest'),
    ...(nats === null ? {} : { nats: nats.process.pid! }),
    provider: provider.pid,
  };
  const postmaster = postmasterOf(assay.dataDir);
  return {
    target: {
      port: Number(new URL(assay.gatewayUrl).port),
      path: '/v1/chat/completions',
      headers: {
        authorization: `Bearer ${assay.key}`,
        'service-user-id': 'ada',
        'service-property-plan': 'pro',
        'service-property-feature': 'summaries',
      },
    },
    sql,
    watcher,
    cpu: () => ({
      ...Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuMicroseconds(pid)])),
      postgres: treeCpuMicroseconds(postmaster) - cpuMicroseconds(watcherPid),
    }),
    holdIngest: () => process.kill(processes.ingest, 'SIGSTOP'),
    releaseIngest: () => process.kill(processes.ingest, 'SIGCONT'),
    async stop() {
      await Promise.all([sql, watcher].map((connection) => connection.end({ timeout: 1 })));
      await assay.stop();
      await nats?.[Symbol.asyncDispose]();
      await provider.stop();
    },
  };
}
