/** Outbox → forwarder → nats-server → ingest → Postgres, all real, with every part of it killed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { LOG_STREAM, LOG_SUBJECT } from '#core/contracts/channels.ts';
import { findLogConsumer } from '#platform/log-pipeline/stream/log-stream.ts';
import { waitFor } from '../../../support/assay.ts';
import { logEntry } from '../../../support/log-entries.ts';
import { natsIsMissing } from '../../../support/nats.ts';
import { setUpLogPath } from './log-path.ts';

const skip = natsIsMissing();

t.test(
  'entries arrive through NATS in Postgres once each, and the outbox is removed',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, root, manager } = await setUpLogPath(t);
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
  const { outbox, forward, consume, sql } = await setUpLogPath(t, 'max_payload: 65536');
  const own = await outbox();
  await forward(own.id);
  await consume();
  await consume();
  const content = 'Zürich → 🦜 '.repeat(30_000);
  const entry = logEntry({}, { request: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] } });
  await own.outbox.append(entry.id, entry);
  const read = () => sql<{ request_text: string }[]>`
    select request_text from assay.bodies where request_id = ${entry.id}`;
  await waitFor('the record', async () => (await read()).length === 1);
  const [row] = await read();
  t.ok(row!.request_text === entry.requestBody.toString(), 'byte for byte');
  const [parts] = await sql`select count(*)::int as count from assay.entry_parts`;
  t.equal(parts!.count, 0, 'its parts are gone');
});

t.test('a part that comes again after its entry was stored is removed', { skip }, async (t) => {
  const { outbox, forward, consume, stored, sql, manager, connectTo } = await setUpLogPath(
    t,
    'max_payload: 65536',
  );
  const own = await outbox();
  await forward(own.id);
  const entry = logEntry({}, { request: { model: 'gpt-4o-mini', padding: 'x'.repeat(300_000) } });
  await own.outbox.append(entry.id, entry);
  const jetStream = await manager();
  // The first part is in the stream for as long as nobody consumes.
  const first = async () => await jetStream.streams.getMessage(LOG_STREAM, { seq: 1 }).catch(() => null);
  await waitFor('the first part', async () => (await first()) !== null);
  const part = (await first())!.data;
  await consume({ lookForStraysEveryMs: 1 });
  await waitFor('the record', async () => (await stored()).length === 1);
  const before = (await jetStream.streams.info(LOG_STREAM)).state.last_seq;
  // As it is delivered again when its acknowledgement was lost.
  (await connectTo('again')).publish(LOG_SUBJECT, part);
  await waitFor('the part to come and go', async () => {
    const consumer = await findLogConsumer(jetStream);
    const { state } = await jetStream.streams.info(LOG_STREAM);
    const isDone = state.last_seq > before && consumer?.ack_floor.stream_seq === state.last_seq;
    const [parts] = await sql`select count(*)::int as count from assay.entry_parts`;
    return isDone && parts!.count === 0;
  });
});

t.test('entries that NATS acknowledged and lost are published again', { skip }, async (t) => {
  const { outbox, forward, consume, stored, nats, manager } = await setUpLogPath(t);
  const own = await outbox();
  const { forwarder } = await forward(own.id);
  const ids: string[] = [];
  for (let index = 0; index < 50; index += 1) {
    const entry = logEntry();
    ids.push(entry.id);
    await own.outbox.append(entry.id, entry);
  }
  // No consumer yet: all entries are in the stream, and then the stream is lost.
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
  const { outbox, forward, consume, stored, nats } = await setUpLogPath(t);
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
    const { outbox, forward, consume, sql, root } = await setUpLogPath(t);
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

t.test('a full stream makes entries wait in the outbox, and nothing is lost', { skip }, async (t) => {
  const { outbox, forward, consume, stored, manager } = await setUpLogPath(t);
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

t.test(
  'a foreign message in the log stream becomes a dead letter, and the others are stored',
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, connectTo, sql } = await setUpLogPath(t);
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
  },
);

t.test(
  "two processes with one outbox directory stop at once, and neither waits for the other's outbox",
  { skip },
  async (t) => {
    const { outbox, forward, consume, stored, root } = await setUpLogPath(t);
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
