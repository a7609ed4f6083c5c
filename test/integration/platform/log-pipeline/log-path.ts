/** The way of log entries, all of it real: outbox → forwarder → nats-server → ingest → Postgres. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { Forwarder } from '#platform/log-pipeline/forward/forwarder.ts';
import { openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { connectNats, type NatsConnection } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { StreamConsumer } from '../../../../ingest/consume.ts';
import { startNats } from '../../../support/nats.ts';
import { testDatabase } from '../../../support/postgres.ts';

const log = createLogger({ role: 'test', level: 'silent' });

type Teardown = { teardown(fn: () => Promise<void> | void): void };

/** A nats-server, a database and a directory of outboxes, and what starts the parts between them. */
export async function setUpLogPath(t: Teardown, natsConfig = '') {
  const database = await testDatabase();
  const nats = await startNats({ config: natsConfig });
  const root = mkdtempSync(join(tmpdir(), 'assay-forward-'));
  const connections: NatsConnection[] = [];
  const connectTo = async (name: string) => {
    const connection = await connectNats({
      address: { servers: [nats.url], credentialsFile: null },
      name,
      log,
    });
    connections.push(connection);
    return connection;
  };
  t.teardown(async () => {
    for (const connection of connections) await connection.close();
    await nats[Symbol.asyncDispose]();
    await database.close();
    rmSync(root, { recursive: true, force: true });
  });
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
    t.teardown(() => opened.close());
    return { id, outbox: opened };
  };
  const forward = async (ownId: string) => {
    const connection = await connectTo('forwarder');
    const forwarder = new Forwarder({ connection, root, ownId, log, stuckAfterMs: 3_000 });
    return { forwarder, connection, running: forwarder.run() };
  };
  const consume = async () => {
    const connection = await connectTo('ingest');
    const consumer = new StreamConsumer({
      connection,
      sql: database.sql,
      log,
      clock: systemClock,
      retentionDays: null,
      onStored: () => {},
    });
    return { consumer, connection, running: consumer.run() };
  };
  const stored = async () => {
    const rows = await database.sql<{ request_id: string }[]>`select request_id from assay.requests`;
    return rows.map((row) => row.request_id).sort();
  };
  const manager = async () => jetstreamManager(await connectTo('test'));
  return { database, sql: database.sql, nats, root, outbox, forward, consume, stored, manager, connectTo };
}
