import { appendFileSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { OutboxFeed } from '#platform/log-pipeline/forward/feed.ts';
import { takeAbandonedOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { breakSegment, openIn, rawEntry, temporaryRoot } from '../../../../support/outbox.ts';

const MAX_MESSAGE_BYTES = 1_000_000;

/** Passes over the feed as the forwarder does, each message published as the next of the stream, and returns their ids. */
async function publishAll(feed: OutboxFeed): Promise<string[]> {
  const ids: string[] = [];
  for (let pass = 0; pass < 10; pass += 1) {
    for (const message of await feed.nextMessages(MAX_MESSAGE_BYTES)) {
      ids.push(message.id);
      message.sequence = ids.length;
    }
    feed.finishChunk();
  }
  return ids;
}

t.test('damage at the end of an outbox that is still written is published once', async (t) => {
  const { id, outbox, directory } = await openIn(temporaryRoot(t));
  t.teardown(() => outbox.close());
  await outbox.append({}, rawEntry('a'));
  appendFileSync(join(directory, '0000000001.log'), Buffer.alloc(64, 0xff));
  const feed = await OutboxFeed.open({ directory, outboxId: id, lock: null });
  const ids = await publishAll(feed);
  t.equal(ids.length, 2, 'the entry, and the damage');
  t.match(ids[1], /damage$/);
  await feed.confirm(2);
  t.equal(feed.unconfirmed, 0, 'nothing is left on its way');
  t.notOk(feed.isDone, 'its process still writes');
});

t.test('an outbox whose last segment is damaged is done once its process is gone', async (t) => {
  const { id, outbox, directory } = await openIn(temporaryRoot(t));
  await outbox.append({}, rawEntry('a'));
  await outbox.close();
  appendFileSync(join(directory, '0000000001.log'), Buffer.alloc(64, 0xff));
  const feed = await OutboxFeed.open({ directory, outboxId: id, lock: takeAbandonedOutbox(directory) });
  const ids = await publishAll(feed);
  t.equal(ids.length, 2);
  t.notOk(feed.isDone, 'what is published is not known to be stored');
  await feed.confirm(2);
  t.ok(feed.isDone);
  await feed.remove();
});

t.test('a stored part that could not be noted once is noted by the next confirmation', async (t) => {
  const { id, outbox, directory } = await openIn(temporaryRoot(t));
  t.teardown(() => outbox.close());
  await outbox.append({}, rawEntry('a'));
  const feed = await OutboxFeed.open({ directory, outboxId: id, lock: null });
  await publishAll(feed);
  const file = join(directory, 'stored.json');
  mkdirSync(file);
  await t.rejects(feed.confirm(1), { message: /EISDIR/ });
  rmdirSync(file);
  await feed.confirm(1);
  t.match(JSON.parse(readFileSync(file, 'utf8')), { segment: 1, entries: 1 });
});

t.test('interrupted calls are published although reading them failed once', async (t) => {
  const { id, outbox, directory } = await openIn(temporaryRoot(t), { segmentBytes: 1 });
  await outbox.append({}, rawEntry('a'));
  await outbox.begin('open', rawEntry('b'));
  await outbox.append({}, rawEntry('c'));
  await outbox.close();
  const feed = await OutboxFeed.open({ directory, outboxId: id, lock: takeAbandonedOutbox(directory) });
  let published = 0;
  while (published < 2) {
    for (const message of await feed.nextMessages(MAX_MESSAGE_BYTES)) {
      published += 1;
      message.sequence = published;
    }
    feed.finishChunk();
  }
  // Its entries have been read; calls under way are looked for in all segments.
  const repair = breakSegment(directory);
  await t.rejects(feed.nextMessages(MAX_MESSAGE_BYTES), { message: /EISDIR/ });
  repair();
  t.equal((await publishAll(feed)).length, 1, 'the interrupted call');
});

t.test(
  'a chunk that NATS has not taken whole for long is published anew from its first message',
  async (t) => {
    const { id, outbox, directory } = await openIn(temporaryRoot(t));
    t.teardown(() => outbox.close());
    await outbox.append({}, rawEntry('a'.repeat(5_000)));
    const feed = await OutboxFeed.open({ directory, outboxId: id, lock: null, anewAfterMs: 50 });
    const parts = await feed.nextMessages(2_000);
    t.equal(parts.length, 3);
    parts[0]!.sequence = 1;
    t.equal((await feed.nextMessages(2_000)).length, 2, 'the others');
    await sleep(60);
    const anew = await feed.nextMessages(2_000);
    t.equal(anew.length, 3, 'ingest may have forgotten the first one');
    t.not(anew[0]!.id, parts[0]!.id, 'JetStream must not take it for a repetition');
    for (const [index, message] of anew.entries()) message.sequence = 2 + index;
    feed.finishChunk();
    await feed.confirm(3);
    t.equal(feed.unconfirmed, 1);
    await feed.confirm(4);
    t.equal(feed.unconfirmed, 0);
  },
);
