/** The way of log entries, all of it real: outbox → forwarder → nats-server → ingest → Postgres. */
import { jetstreamManager } from '@nats-io/jetstream';
import { Forwarder } from '#platform/log-pipeline/forward/forwarder.ts';
import { openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { connectNats } from '#platform/nats/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { type ConsumeOptions, StreamConsumer } from '../../../../ingest/consume.ts';
import { createWorld, type Owner, silentLog } from '../../../support/world.ts';

const log = silentLog;

/** A nats-server, a database and a directory of outboxes, and what starts the parts between them. */
export async function setUpLogPath(owner: Owner, natsConfig = '') {
  const world = await createWorld(owner);
  const { database, sql } = world;
  const nats = await world.nats({ config: natsConfig });
  const root = world.directory();
  const connectTo = async (name: string) => {
    const connection = await connectNats({
      address: { servers: [nats.url], credentialsFile: null },
      name,
      log,
    });
    owner.teardown(() => connection.close());
    return connection;
  };
  const outbox = async (segmentBytes?: number) => {
    const id = newRequestId();
    const opened = await openOutbox({
      root,
      id,
      maxBytes: 1e9,
      sync: 'process',
      log,
      ...(segmentBytes !== undefined && { segmentBytes }),
    });
    owner.teardown(() => opened.close());
    return { id, outbox: opened };
  };
  const forward = async (ownId: string) => {
    const connection = await connectTo('forwarder');
    const forwarder = new Forwarder({ connection, root, ownId, log, stuckAfterMs: 3_000 });
    return { forwarder, connection, running: forwarder.run() };
  };
  const consume = async (options: Pick<ConsumeOptions, 'lookForStraysEveryMs'> = {}) => {
    const connection = await connectTo('ingest');
    const consumer = new StreamConsumer({
      connection,
      sql,
      log,
      clock: systemClock,
      retentionDays: null,
      ...options,
      onStored: () => {},
    });
    const running = consumer.run();
    owner.teardown(async () => {
      consumer.stop();
      await connection.close();
      await running;
    });
    return { consumer, connection, running };
  };
  const stored = async () => {
    const rows = await sql<{ request_id: string }[]>`select request_id from assay.requests`;
    return rows.map((row) => row.request_id).sort();
  };
  const manager = async () => jetstreamManager(await connectTo('test'));
  return { database, sql, nats, root, outbox, forward, consume, stored, manager, connectTo };
}
