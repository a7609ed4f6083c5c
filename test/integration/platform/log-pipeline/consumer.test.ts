/** The consumer of the log stream and its readers, when it is lost, replaced, or has stale acknowledgements. */
import { once } from 'node:events';
import { cpSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import t from 'tap';
import { LOG_STREAM, LOG_SUBJECT } from '#core/contracts/channels.ts';
import { findLogConsumer } from '#platform/log-pipeline/stream/log-stream.ts';
import {
  awaitsLostMessage,
  declareLogStream,
  encodeEntries,
  LogReader,
  type ReceivedMessage,
} from '#platform/log-pipeline/stream/mod.ts';
import { ConnectionMonitor } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { waitFor } from '../../../support/assay.ts';
import { logEntry } from '../../../support/log-entries.ts';
import { natsIsMissing } from '../../../support/nats.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { setUpLogPath } from './log-path.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const skip = natsIsMissing();

t.test(
  'a NATS server that lost acknowledgements and not deletions in a crash delays no entry',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, root, nats, manager, connectTo } = await setUpLogPath(t);
    const jetStream = await manager();
    const { streams } = jetStream;
    const reading = await connectTo('test');
    const consumerFile = (name: string) =>
      join(nats.storeDirectory, 'jetstream/$G/streams/LOGS/obs', name, 'o.dat');
    const remembered = join(t.testdir(), 'o.dat');
    /** Takes three messages that are in the stream, and acknowledges some: what is left of them is written down then. */
    const acknowledge = async (chosen: number[]) => {
      const { consumer } = await declareLogStream(reading);
      const reader = new LogReader(reading, new ConnectionMonitor(reading, log), consumer);
      const taken: ReceivedMessage[] = [];
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
  'entries of a stream that was recreated meanwhile are not acknowledged in the new one',
  { skip },
  async (t) => {
    const { nats, manager, connectTo } = await setUpLogPath(t);
    const jetStream = await manager();
    const reading = await connectTo('test');
    /** Takes so many messages that were just published. */
    const take = async (count: number): Promise<ReceivedMessage[]> => {
      let consumer = '';
      await waitFor('NATS', async () => {
        consumer = await declareLogStream(reading)
          .then((declared) => declared.consumer)
          .catch(() => '');
        return consumer !== '';
      });
      for (let index = 0; index < count; index += 1) await jetstream(reading).publish('assay.logs', 'x');
      const reader = new LogReader(reading, new ConnectionMonitor(reading, log), consumer);
      const taken: ReceivedMessage[] = [];
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
    // The server takes acknowledgements some time after it received them.
    await waitFor('them', async () => ((await findLogConsumer(jetStream))?.num_ack_pending ?? 10) <= 3);
    t.match(await findLogConsumer(jetStream), { ack_floor: { stream_seq: 7 }, num_ack_pending: 3 });
  },
);

t.test('a removed consumer is created again, and used by readers of the former one', { skip }, async (t) => {
  const { outbox, forward, consume, stored, manager } = await setUpLogPath(t);
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
});

t.test(
  'a consumer whose connection is closed ends, also while Postgres takes nothing',
  { skip },
  async (t) => {
    const { outbox, forward, consume, manager, sql } = await setUpLogPath(t);
    await sql.end();
    const own = await outbox();
    await forward(own.id);
    const { connection, running } = await consume();
    const entry = logEntry();
    await own.outbox.append(entry.id, entry);
    const jetStream = await manager();
    await waitFor('it to take the entry', async () => {
      const info = await findLogConsumer(jetStream).catch(() => null);
      return info?.num_ack_pending === 1;
    });
    await connection.close();
    t.ok(await settlesWithin(running, 30_000), 'it stores nothing that it could not acknowledge');
  },
);

t.test('a new consumer of a stream that does not begin at 1 is not taken for stuck', { skip }, async (t) => {
  const { manager, connectTo } = await setUpLogPath(t);
  const reading = await connectTo('test');
  const declared = await declareLogStream(reading);
  const publish = async (count: number) => {
    for (let index = 0; index < count; index += 1) await jetstream(reading).publish('assay.logs', 'x');
  };
  const take = async (consumer: string, count: number) => {
    const taken: ReceivedMessage[] = [];
    const reader = new LogReader(reading, new ConnectionMonitor(reading, log), consumer);
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
  t.notOk(await awaitsLostMessage(anew), 'nobody has asked for the messages');
  const taken = await take(anew.consumer, 2);
  t.notOk(await awaitsLostMessage(anew), 'they are being worked on');
  taken[0]!.acknowledge();
  await reading.flush();
  t.notOk(await awaitsLostMessage(anew), 'one of them is');
});

t.test('a message says how many are behind it, and the last one that none is', { skip }, async (t) => {
  const { connectTo } = await setUpLogPath(t);
  const reading = await connectTo('test');
  const { consumer } = await declareLogStream(reading);
  for (let index = 0; index < 150; index += 1) await jetstream(reading).publish('assay.logs', 'x');
  const reader = new LogReader(reading, new ConnectionMonitor(reading, log), consumer);
  const taken: ReceivedMessage[] = [];
  await waitFor('all messages', async () => {
    taken.push(...(await reader.take(100)));
    return taken.length === 150;
  });
  t.same(
    taken.map(({ pending }) => pending),
    Array.from({ length: 150 }, (_, index) => 149 - index),
  );
  reader.close();
});

t.test(
  'what a stream held that was made anew with its consumer is not acknowledged in the new one',
  { skip },
  async (t) => {
    const { consume, stored, sql, manager, connectTo } = await setUpLogPath(t);
    const connection = await connectTo('test');
    const declare = () => declareLogStream(connection);
    await waitFor('the stream', () => declare().then(Boolean, () => false));
    const jetStream = await manager();
    const { streams, consumers } = jetStream;
    const publishing = jetstream(connection);
    const publish = async () => {
      const entry = logEntry();
      const position = { segment: 0, offset: positions * 1_000 };
      positions += 1;
      await publishing.publish(LOG_SUBJECT, encodeEntries('outbox', [{ ...entry, position }]));
      return entry.id;
    };
    let positions = 0;
    await consume();
    const first = await publish();
    await waitFor('the first record', async () => (await stored()).length === 1);

    // Ingest holds a message that PostgreSQL does not store yet.
    const lock = await openTransaction(sql, (tx) => tx`lock table assay.requests in access exclusive mode`);
    await publish();
    const info = async () => (await findLogConsumer(jetStream))!;
    // A message that is delivered and not taken yet is dropped when its stream goes, and would never be acknowledged.
    await waitFor('it to be stored', async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return waiting.length > 0;
    });
    // As the server of a cluster does that has lost its disk, while ingest stays connected to another one.
    const { config } = await streams.info(LOG_STREAM);
    const { config: own } = await info();
    await streams.delete(LOG_STREAM);
    await streams.add(config);
    await consumers.add(LOG_STREAM, own);
    const others = [await publish(), await publish()];
    await sleep(1_000);
    await lock.end();
    await waitFor('the others', async () => {
      const ids = await stored();
      return others.every((id) => ids.includes(id));
    });
    t.ok((await stored()).includes(first));
  },
);

t.test('what ingest holds while PostgreSQL stores nothing', { skip }, async (t) => {
  const { consume, stored, sql, nats, manager, connectTo } = await setUpLogPath(t);
  const connection = await connectTo('test');
  const jetStream = await manager();
  const publishing = jetstream(connection);
  let positions = 0;
  const publish = async () => {
    const position = { segment: 0, offset: positions * 1_000 };
    positions += 1;
    await publishing.publish(LOG_SUBJECT, encodeEntries('outbox', [{ ...logEntry(), position }]));
  };
  const info = async () => (await findLogConsumer(jetStream))!;
  const heldFor = (count: number) =>
    waitFor('ingest to hold messages', async () => (await info()).num_ack_pending === count);
  const lockRequests = () =>
    openTransaction(sql, (tx) => tx`lock table assay.requests in access exclusive mode`);
  const { consumer: name } = await declareLogStream(connection);
  const readElsewhere = () => new LogReader(connection, new ConnectionMonitor(connection, log), name);

  // Another process holds the first message.
  const other = readElsewhere();
  await publish();
  const [message] = await other.take(5_000);
  other.close();
  await publish();
  const lock = await lockRequests();
  const { consumer, running } = await consume();
  await heldFor(2);

  await t.test('is acknowledged although a message that was delivered twice is gone', async (t) => {
    // Ingest is given it, too, at the head of its next batch.
    message!.release();
    await waitFor('it', async () => (await info()).delivered.consumer_seq === 3);
    await publish();
    await waitFor('another one', async () => (await info()).delivered.consumer_seq === 4);
    message!.acknowledge();
    await waitFor('it to be gone', async () => (await info()).num_ack_pending === 2);
    await sleep(1_000);
    await lock.end();
    await waitFor('the records', async () => (await stored()).length === 3);
    await heldFor(0);
    t.equal((await info()).delivered.consumer_seq, 4, 'nothing was delivered once more');
  });

  await t.test('is not delivered elsewhere, whether it is being stored or waits for that', async (t) => {
    const { config } = await info();
    await jetStream.consumers.update(LOG_STREAM, name, { ...config, ack_wait: 4_000_000_000 });
    const lock = await lockRequests();
    await publish();
    await waitFor('it to be stored', async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return waiting.length > 0;
    });
    await publish();
    await heldFor(2);
    await sleep(4_500);
    const reader = readElsewhere();
    t.same(await reader.take(500), []);
    reader.close();
    await lock.end();
    await heldFor(0);
  });

  await t.test('delays no stop when the connection is lost', async (t) => {
    const lock = await lockRequests();
    await publish();
    await heldFor(1);
    await sleep(1_000);
    await nats.kill();
    consumer.stop();
    await lock.end();
    t.ok(await settlesWithin(running, 2_500));
  });
});
