/** Outbox → forwarder → nats-server → ingest → Postgres, all real, with every part of it killed. */
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import t from 'tap';
import { systemClock } from '#core/clock.ts';
import { Forwarder } from '#core/forward/mod.ts';
import { newRequestId } from '#core/ids.ts';
import { createLogger } from '#core/log.ts';
import {
  connectNats,
  declareLogStream,
  findLogConsumer,
  Line,
  LogReader,
  type NatsConnection,
  type TakenMessage,
  waitsForNothing,
} from '#core/nats/mod.ts';
import { openOutbox } from '#core/outbox/mod.ts';
import { StreamConsumer } from '../../api/ingest/consume.ts';
import { waitFor } from '../support/assay.ts';
import { logEntry } from '../support/log-entries.ts';
import { natsIsMissing, startNats } from '../support/nats.ts';
import { testDatabase } from '../support/postgres.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const skip = natsIsMissing();

type Teardown = { teardown(fn: () => Promise<void> | void): void };

async function setUp(t: Teardown, natsConfig = '') {
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

t.test(
  'entries come through NATS into Postgres, once each, and the outbox is let go',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, root, manager } = await setUp(t);
    const own = await outbox(20_000);
    const { forwarder, running } = await forward(own.id);
    await consume();
    const ids: string[] = [];
    for (let index = 0; index < 300; index += 1) {
      const entry = logEntry();
      ids.push(entry.id);
      await own.outbox.append(entry.id, entry);
    }
    await waitFor('all records', async () => (await stored()).length === ids.length);
    t.same(await stored(), [...ids].sort());
    await waitFor('old segments to go', async () => {
      const names = await readdir(join(root, own.id));
      return names.filter((name) => name.endsWith('.log')).length === 1;
    });
    await own.outbox.close();
    forwarder.stop();
    await running;
    t.same(await readdir(root), [], 'a closed outbox that is stored is removed');
    const { state } = await (await manager()).streams.info('LOGS');
    t.equal(state.messages, 0, 'nothing is left in the stream');
  },
);

t.test('an entry larger than a message arrives whole', { skip }, async (t) => {
  const { outbox, forward, consume, sql } = await setUp(t, 'max_payload: 65536');
  const own = await outbox();
  await forward(own.id);
  await consume();
  await consume();
  const content = 'Zürich → 🦜 '.repeat(30_000);
  const entry = logEntry({}, { request: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] } });
  await own.outbox.append(entry.id, entry);
  const read = () => sql<{ request_text: string }[]>`
    select request_text from assay.request_bodies where request_id = ${entry.id}`;
  await waitFor('the record', async () => (await read()).length === 1);
  const [row] = await read();
  t.ok(row!.request_text === entry.requestBody.toString(), 'byte for byte');
  const [parts] = await sql`select count(*)::int as count from assay.entry_parts`;
  t.equal(parts!.count, 0, 'its parts are gone');
});

t.test('what NATS acknowledged and lost is sent again', { skip }, async (t) => {
  const { outbox, forward, consume, stored, nats, manager } = await setUp(t);
  const own = await outbox();
  const { forwarder } = await forward(own.id);
  const ids: string[] = [];
  for (let index = 0; index < 50; index += 1) {
    const entry = logEntry();
    ids.push(entry.id);
    await own.outbox.append(entry.id, entry);
  }
  // Nobody consumes yet: all of it lies in the stream, and then the stream is gone.
  await waitFor('the stream to hold them', async () => {
    const info = await (await manager()).streams.info('LOGS').catch(() => null);
    return (info?.state.messages ?? 0) > 0 && forwarder.unconfirmed > 0;
  });
  await nats.restart({ emptied: true });
  await consume();
  await waitFor('all records', async () => (await stored()).length === ids.length);
  t.same(await stored(), [...ids].sort());
});

t.test('NATS killed again and again while entries flow: all are stored, once each', { skip }, async (t) => {
  const { outbox, forward, consume, stored, nats } = await setUp(t);
  const own = await outbox(50_000);
  const { forwarder, running } = await forward(own.id);
  await consume();
  await consume();
  const ids: string[] = [];
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) {
      const entry = logEntry();
      ids.push(entry.id);
      await own.outbox.append(entry.id, entry);
      await sleep(1);
    }
  })();
  for (let round = 0; round < 4; round += 1) {
    await sleep(400);
    await nats.restart({ emptied: round % 2 === 1 });
  }
  isWriting = false;
  await writing;
  await own.outbox.close();
  forwarder.stop();
  await running;
  t.same(await stored(), [...ids].sort());
});

t.test(
  'the outbox of a process that was killed is taken over, and its calls under way are interrupted',
  { skip },
  async (t) => {
    const { outbox, forward, consume, sql, root } = await setUp(t);
    const gone = await outbox();
    const [finished, open] = [logEntry(), logEntry({ status: 0, errorCode: 'interrupted' })];
    await gone.outbox.begin(finished.id, finished);
    await gone.outbox.begin(open.id, open);
    await gone.outbox.append(finished.id, finished);
    // Closing frees the lock, as the death of the process would.
    await gone.outbox.close();
    const own = await outbox();
    await forward(own.id);
    await consume();
    await waitFor('the old outbox to be removed', async () => !(await readdir(root)).includes(gone.id));
    const rows = await sql<{ request_id: string; status: number; error_code: string | null }[]>`
    select request_id, status, error_code from assay.requests order by status`;
    t.same(
      rows.map((row) => ({ ...row })),
      [
        { request_id: open.id, status: 0, error_code: 'interrupted' },
        { request_id: finished.id, status: 200, error_code: null },
      ],
    );
  },
);

t.test(
  'a server that forgot in a crash what was acknowledged, and not what was removed, holds up nothing',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, root, nats, manager, connectTo } = await setUp(t);
    const jetStream = await manager();
    const { streams } = jetStream;
    const reading = await connectTo('test');
    const consumerFile = (name: string) =>
      join(nats.storeDirectory, 'jetstream/$G/streams/LOGS/obs', name, 'o.dat');
    const remembered = join(t.testdir(), 'o.dat');
    /** Takes three messages that are in the stream, and acknowledges some: what is left of them is written down then. */
    const acknowledge = async (chosen: number[]) => {
      const { consumer } = await declareLogStream(reading);
      const reader = new LogReader(reading, new Line(reading, log), consumer);
      const taken: TakenMessage[] = [];
      await waitFor('messages', async () => taken.push(...(await reader.take(100))) === 3);
      const at = Date.now();
      for (const index of chosen) taken[index]!.acknowledge();
      const left = 3 - chosen.length;
      await waitFor('the rest', async () => (await streams.info('LOGS')).state.messages === left);
      // Written since, and not being written any more.
      await waitFor('its note', () => {
        const { mtimeMs } = statSync(consumerFile(consumer));
        return mtimeMs > at && mtimeMs < Date.now() - 1_000;
      });
      return consumerFile(consumer);
    };

    // A consumer that knows of the first of three messages that it was acknowledged.
    await declareLogStream(reading);
    for (let index = 0; index < 3; index += 1) await jetstream(reading).publish('assay.logs', 'x');
    cpSync(await acknowledge([0]), remembered);
    await streams.delete('LOGS');

    // And a stream that has the first of three messages, and not the others.
    const own = await outbox();
    const { forwarder, running } = await forward(own.id);
    const ids: string[] = [];
    for (let count = 1; count <= 3; count += 1) {
      const entry = logEntry();
      ids.push(entry.id);
      await own.outbox.append(entry.id, entry);
      await waitFor('its message', async () => {
        const info = await streams.info('LOGS').catch(() => null);
        return info?.state.messages === count;
      });
    }
    const noted = await acknowledge([1, 2]);
    const ended = once(nats.process, 'exit');
    nats.process.kill('SIGTERM');
    await ended;
    cpSync(remembered, noted);
    const restartedAt = Date.now();
    await nats.restart();
    await waitFor('the consumer to wait for what the stream does not have', async () => {
      const info = await findLogConsumer(jetStream).catch(() => null);
      // Or it has been replaced before anybody could look.
      const isReplaced = info !== null && Date.parse(info.created) > restartedAt;
      return isReplaced || (info?.ack_floor.stream_seq === 1 && info.num_ack_pending === 2);
    });

    await consume();
    await own.outbox.close();
    forwarder.stop();
    await running;
    t.same(await readdir(root), [], 'the outbox was let go');
    t.same(await stored(), [...ids].sort());
  },
);

t.test(
  'what an ingest process holds of a stream that was emptied since is not acknowledged in the new one',
  { skip },
  async (t) => {
    const { nats, manager, connectTo } = await setUp(t);
    const jetStream = await manager();
    const reading = await connectTo('test');
    /** Takes so many messages that were just published. */
    const take = async (count: number): Promise<TakenMessage[]> => {
      let consumer = '';
      await waitFor('NATS', async () => {
        consumer = await declareLogStream(reading)
          .then((declared) => declared.consumer)
          .catch(() => '');
        return consumer !== '';
      });
      for (let index = 0; index < count; index += 1) await jetstream(reading).publish('assay.logs', 'x');
      const reader = new LogReader(reading, new Line(reading, log), consumer);
      const taken: TakenMessage[] = [];
      await waitFor('messages', async () => taken.push(...(await reader.take(100))) === count);
      return taken;
    };
    const before = await take(5);
    await nats.kill();
    await nats.restart({ emptied: true });
    const after = await take(10);
    for (const message of before) message.acknowledge();
    await reading.flush();
    t.match(await findLogConsumer(jetStream), { ack_floor: { stream_seq: 0 }, num_ack_pending: 10 });
    for (const message of after.slice(0, 7)) message.acknowledge();
    await reading.flush();
    t.match(await findLogConsumer(jetStream), { ack_floor: { stream_seq: 7 }, num_ack_pending: 3 });
  },
);

t.test(
  'a consumer that is removed is made anew, and found by who read the former one',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, manager } = await setUp(t);
    const { consumers } = await manager();
    const own = await outbox();
    const { forwarder, running } = await forward(own.id);
    await consume();
    const first = logEntry();
    await own.outbox.append(first.id, first);
    await waitFor('the record', async () => (await stored()).length === 1);
    const before = (await findLogConsumer(await manager()))!.name;
    await consumers.delete('LOGS', before);
    const second = logEntry();
    await own.outbox.append(second.id, second);
    await waitFor('the other record', async () => (await stored()).length === 2);
    t.not((await findLogConsumer(await manager()))!.name, before);
    await own.outbox.close();
    forwarder.stop();
    await running;
  },
);

t.test(
  'a consumer that has acknowledged nothing yet, of a stream that does not begin at 1, is not taken for stuck',
  { skip },
  async (t) => {
    const { manager, connectTo } = await setUp(t);
    const reading = await connectTo('test');
    const declared = await declareLogStream(reading);
    const publish = async (count: number) => {
      for (let index = 0; index < count; index += 1) await jetstream(reading).publish('assay.logs', 'x');
    };
    const take = async (consumer: string, count: number) => {
      const taken: TakenMessage[] = [];
      const reader = new LogReader(reading, new Line(reading, log), consumer);
      await waitFor('messages', async () => taken.push(...(await reader.take(100))) === count);
      return taken;
    };
    await publish(3);
    for (const message of await take(declared.consumer, 3)) message.acknowledge();
    const { streams, consumers } = await manager();
    await waitFor('an empty stream', async () => (await streams.info('LOGS')).state.messages === 0);
    await consumers.delete('LOGS', declared.consumer);
    const anew = await declareLogStream(reading);
    await publish(2);
    t.notOk(await waitsForNothing(anew), 'nobody has asked for the messages');
    const taken = await take(anew.consumer, 2);
    t.notOk(await waitsForNothing(anew), 'they are being worked on');
    taken[0]!.acknowledge();
    await reading.flush();
    t.notOk(await waitsForNothing(anew), 'one of them is');
    await streams.purge('LOGS');
    t.notOk(await waitsForNothing(anew), 'a purge is told to the consumer');
  },
);

t.test('a full stream makes entries wait in the outbox, and nothing is lost', { skip }, async (t) => {
  const { outbox, forward, consume, stored, manager } = await setUp(t);
  const own = await outbox();
  const { forwarder, running } = await forward(own.id);
  const streams = (await manager()).streams;
  await waitFor('the stream', async () => (await streams.info('LOGS').catch(() => null)) !== null);
  await streams.update('LOGS', { max_bytes: 600_000 });
  const ids: string[] = [];
  for (let index = 0; index < 500; index += 1) {
    const entry = logEntry({}, { request: { text: 'x'.repeat(2_000) } });
    ids.push(entry.id);
    await own.outbox.append(entry.id, entry);
    await sleep(1);
  }
  await waitFor('the stream to be full', async () => (await streams.info('LOGS')).state.bytes > 10_000);
  await consume();
  await streams.update('LOGS', { max_bytes: 1e9 });
  await waitFor('all records', async () => (await stored()).length === ids.length);
  await own.outbox.close();
  forwarder.stop();
  await running;
  t.same(await stored(), [...ids].sort());
});

t.test('a message that is not ours becomes a dead letter, and the others are stored', { skip }, async (t) => {
  const { outbox, forward, consume, stored, connectTo, sql } = await setUp(t);
  const own = await outbox();
  await forward(own.id);
  await consume();
  const stranger = await connectTo('stranger');
  const entry = logEntry();
  await own.outbox.append(entry.id, entry);
  await waitFor('the record', async () => (await stored()).length === 1);
  stranger.publish('assay.logs', 'hello');
  const another = logEntry();
  await own.outbox.append(another.id, another);
  await waitFor('both records', async () => (await stored()).length === 2);
  await waitFor('the letter', async () => (await sql`select 1 from assay.dead_letters`).length === 1);
  const [letter] = await sql<
    { reason: string; entry: Buffer }[]
  >`select reason, entry from assay.dead_letters`;
  t.match(letter!.reason, /not one of Assay's/);
  t.equal(letter!.entry.toString(), 'hello');
});

t.test(
  'two processes with one directory stop at the same time: neither waits for what the other took',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, root } = await setUp(t);
    await consume();
    const [first, second] = [await outbox(), await outbox()];
    const forwarders = [await forward(first.id), await forward(second.id)];
    const ids: string[] = [];
    for (const own of [first, second]) {
      const entry = logEntry();
      ids.push(entry.id);
      await own.outbox.append(entry.id, entry);
    }
    await waitFor('both records', async () => (await stored()).length === 2);
    // Closed first, as by a process that is about to stop: the other may take it before its own forwarder does.
    await second.outbox.close();
    await waitFor('the other process to take it', async () => (await readdir(root)).length === 1);
    await first.outbox.close();
    for (const { forwarder } of forwarders) forwarder.stop();
    await Promise.all(forwarders.map(({ running }) => running));
    t.same(await readdir(root), []);
    t.same(await stored(), [...ids].sort());
  },
);
