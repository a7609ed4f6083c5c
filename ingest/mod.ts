/**
 * The ingest role: stores log entries in Postgres, each exactly once. It reads them from NATS if configured, else from the
 * outboxes of this machine.
 *
 * Path of an entry: drain.ts (outboxes, up to their cursor.ts) or consume.ts (log stream, whose larger entries
 * entry-parts.ts joins) → store-batch.ts, which has prepare-batch.ts make records (build-record.ts, and estimate-usage.ts
 * for tokens that the provider did not count), and inserts them (statements.ts). In the same transaction: sessions.ts,
 * judge-calls.ts and experiments.ts count; schedule.ts and schedule-sessions.ts insert the evaluations that are due. What
 * cannot be stored goes to dead-letters.ts. In the background: retention.ts, and compress-bodies.ts.
 */
import { join } from 'node:path';
import { createCatalog } from '#core/models/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import { answerHealth, serve } from '#platform/http-server/mod.ts';
import { FAILING_OUTBOXES } from '#platform/log-pipeline/outbox/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createMetrics, type Metrics } from '#platform/observability/metrics.ts';
import { checkSchema, connectPostgres } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type Role, stopInOrder } from '#platform/process/lifecycle.ts';
import { availableMemory, collectSeldom } from '#platform/process/memory.ts';
import { reportProcess } from '#platform/processes/mod.ts';
import { BodyCompressor, compressesSlowly } from './compress-bodies.ts';
import { Drain } from './drain.ts';
import { memoryWarning } from './memory.ts';
import { createReport } from './report.ts';
import { startPartitionKeeper } from './retention.ts';
import type { Source, SourceOptions } from './source.ts';
import type { BatchResult } from './store-batch.ts';
import { createTokenCounter } from './tokens/mod.ts';

export { dropDeadLetters, findDeadLetter, listDeadLetters } from './dead-letters.ts';
export { retryAllDeadLetters, retryDeadLetter } from './retry-dead-letter.ts';

/** One stores batches, one compresses bodies, one answers for the health of the process. */
const POSTGRES_CONNECTIONS = 3;
/** A batch takes milliseconds; after a minute, some lock holds the tables. */
const STATEMENT_TIMEOUT_MS = 60_000;
/** Only the operator calls this role. */
const LOOPBACK = '127.0.0.1';

export type StartIngestOptions = {
  config: Config;
  log: Logger;
  clock: Clock;
  /** The metrics of the process, which ingest serves; absent: its own. */
  metrics?: Metrics;
  /** Called after each batch that was stored. */
  onStored?(): void;
};

function drainOutboxes(dataDir: string, options: SourceOptions, metrics: Metrics): Source {
  const drain = new Drain({ ...options, root: join(dataDir, 'outbox') });
  const failingOutboxes = () => drain.failingOutboxes;
  metrics.readOnDemand(...FAILING_OUTBOXES, failingOutboxes);
  const running = drain.run();
  options.log.info({ dataDir }, 'ingest reads the outboxes');
  return {
    check: async () => {},
    failingOutboxes,
    stop: async () => {
      drain.stop();
      await running;
    },
  };
}

/**
 * Starts ingest; `config.databaseUrl` must be set.
 * @throws Error with one sentence when the schema does not fit, the port is taken, or NATS refuses permanently
 */
export async function startIngest(options: StartIngestOptions): Promise<Role> {
  const { config, log, clock, metrics = createMetrics('ingest') } = options;
  collectSeldom();
  const sql = connectPostgres({
    url: config.databaseUrl!,
    max: POSTGRES_CONNECTIONS,
    applicationName: 'assay-ingest',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  await checkSchema(sql);
  const warning = memoryWarning(availableMemory(), config.maxBodyBytes);
  if (warning !== null) log.warn(warning);
  const { onUncounted, readLastStored, ...report } = createReport({ sql, metrics, log, clock });
  const counter = createTokenCounter({ clock, onFailure: onUncounted });
  const compressor = new BodyCompressor({ sql, log });
  const compressing = compressor.run();
  const sourceOptions = {
    sql,
    log,
    clock,
    catalog: createCatalog(config.models),
    retentionDays: config.retentionDays,
    counter,
    ...((await compressesSlowly(sql)) && { onFreshBodies: compressor.wake }),
    onPace: compressor.setPace,
    ...report,
    onStored: (result: BatchResult) => {
      report.onStored(result);
      options.onStored?.();
    },
  };
  // The reader of NATS is loaded where a broker is configured, with its library.
  const source = await (config.nats === null
    ? drainOutboxes(config.dataDir, sourceOptions, metrics)
    : (await import('./stream-source.ts')).consumeStream(config.nats, sourceOptions));
  const fetch = answerHealth({ metrics, checks: { postgres: () => sql`select 1`, source: source.check } });
  const server = await serve({ fetch, host: LOOPBACK, port: config.ingestPort });
  log.info({ address: server.url }, 'ingest serves its health');
  const keeper = startPartitionKeeper({
    url: config.databaseUrl!,
    clock,
    log,
    retentionDays: config.retentionDays,
  });
  const processReport = await reportProcess({
    sql,
    log,
    role: 'ingest',
    facts: null,
    read: async () => ({
      last_stored_at: await readLastStored(),
      failing_outboxes: source.failingOutboxes(),
    }),
  });
  return {
    name: 'ingest',
    address: server.url,
    stop: () =>
      stopInOrder([
        // 1. The remaining entries are stored; the caller sets the deadline.
        { what: 'Storing the remaining log entries', run: source.stop },
        // 2. Then the resources that storing needed are released.
        {
          what: 'Compressing bodies',
          run: async () => {
            compressor.stop();
            await compressing;
          },
        },
        { what: 'Withdrawing the report', run: processReport.stop },
        { what: 'Closing the token counter', run: counter.close },
        { what: 'Stopping the partition keeper', run: keeper.stop },
        { what: 'Closing the server', run: () => server.close(config.shutdownMs) },
        { what: 'Disconnecting', run: () => sql.end({ timeout: 1 }) },
      ]),
  };
}
