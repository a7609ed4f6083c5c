import { join } from 'node:path';
import type { Config } from '../../config/mod.ts';
import type { Logger } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Sql } from '../../postgres/mod.ts';
import type { Clock } from '../../process/clock.ts';
import { newRequestId } from '../../process/ids.ts';
import { bytesBelow, FAILING_OUTBOXES, type Outbox, openOutbox } from '../outbox/mod.ts';
import { type Backlog, type BacklogOptions, createBacklogMeter, readStoredPart } from './backlog.ts';
import { startForwarder } from './thread.ts';

export type LogPipeline = {
  outbox: Outbox;
  /** Measures the backlog of the outbox; never rejects, and waits for Postgres as long as `sql` does. */
  measureBacklog(): Promise<Backlog>;
  /** Outboxes of this machine whose files failed when this process last tried them; 0 where ingest reads them. */
  failingOutboxes(): number;
  /**
   * Closes the outbox and, with a broker, waits until all of it is stored: until `stopBy` on the monotonic clock, but at
   * least a second. What is left then is stored later.
   */
  close(stopBy: number): Promise<void>;
};

export type LogPipelineOptions = {
  config: Pick<Config, 'dataDir' | 'outbox' | 'nats' | 'logLevel'>;
  /** Asked now and then how far ingest has read the outbox. */
  sql: Sql;
  /** The role that writes: named in the log and in the broker's list of connections. */
  role: string;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
};

/** Time for the last entries to arrive when calls took all the time that there was to stop. */
const LEAST_FORWARDING_MS = 1_000;

/**
 * Opens the pipeline that a role writes its log entries to: an outbox of its own and, when there is a broker, the forwarder
 * that empties it. Without a broker, ingest reads the outboxes on this machine.
 * @throws Error with a sentence for the operator when the directory cannot be written, or NATS refuses for good
 */
export async function openLogPipeline({
  config,
  sql,
  role,
  log,
  metrics,
  clock,
}: LogPipelineOptions): Promise<LogPipeline> {
  const { nats } = config;
  if (nats !== null) {
    // Loaded where a broker is configured, with its library.
    const { checkNats } = await import('../stream/mod.ts');
    await checkNats({ address: nats, name: `assay-${role}`, log, use: 'writes' });
  }
  const root = join(config.dataDir, 'outbox');
  const ownId = newRequestId();
  const outbox = await openOutbox({ root, id: ownId, ...config.outbox, log });
  metrics.countedElsewhere(
    'not_logged_total',
    'Entries that could not be kept since the start: the outbox was full or failing',
    () => outbox.refused,
  );
  const meterOf = (readStored: BacklogOptions['readStored']) =>
    createBacklogMeter({ outbox, directory: join(root, ownId), readStored, metrics });
  if (nats === null) {
    const meter = meterOf(() => readStoredPart(sql, ownId));
    return {
      outbox,
      measureBacklog: meter.measure,
      failingOutboxes: () => 0,
      close: async () => {
        meter.stop();
        await outbox.close();
      },
    };
  }
  const forwarder = startForwarder({ address: nats, root, ownId, role, logLevel: config.logLevel }, log);
  metrics.readOnDemand(
    'forwarder_unconfirmed',
    'Messages in NATS that are not known to be in Postgres',
    () => forwarder.state.unconfirmed,
  );
  const failingOutboxes = () => forwarder.state.failingOutboxes;
  metrics.readOnDemand(...FAILING_OUTBOXES, failingOutboxes);
  const meter = meterOf(async () => forwarder.state.ownStored);
  return {
    outbox,
    measureBacklog: meter.measure,
    failingOutboxes,
    close: async (stopBy) => {
      meter.stop();
      await outbox.close();
      const waitingBytes = await bytesBelow(root);
      const leftMs = waitingBytes === 0 ? 0 : stopBy - clock.monotonic();
      const deadlineMs = Math.max(LEAST_FORWARDING_MS, leftMs);
      if ((await forwarder.stop(deadlineMs)) || waitingBytes === 0) return;
      log.warn(
        { deadlineMs },
        'not all log entries have arrived in Postgres; the rest is forwarded after the next start',
      );
    },
  };
}
