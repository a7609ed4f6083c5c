import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { OutboxFeed } from '#platform/log-pipeline/forward/feed.ts';
import { takeAbandonedOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { openIn, rawEntry, temporaryRoot } from '../../../../support/outbox.ts';

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
