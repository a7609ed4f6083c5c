import t from 'tap';
import { createBacklogMeter, readStoredPart } from '#platform/log-pipeline/forward/backlog.ts';
import { OutboxFeed } from '#platform/log-pipeline/forward/feed.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { logEntry } from '../../../../support/log-entries.ts';
import { openIn, rawEntry, temporaryRoot } from '../../../../support/outbox.ts';
import { outboxWorld } from '../../../ingest/outbox-world.ts';

const NOTHING = { records: 0, bytes: 0, oldestMs: 0 };

t.test(
  'the backlog of an outbox is what ingest has not stored, and grows while Postgres is away',
  async (t) => {
    const { sql, root, ingest } = await outboxWorld(t);
    const { id, outbox, directory } = await openIn(root);
    t.teardown(() => outbox.close());
    let isAway = false;
    const metrics = createMetrics('gateway');
    const readStored = () => (isAway ? Promise.reject(new Error('away')) : readStoredPart(sql, id));
    const meter = createBacklogMeter({ outbox, directory, readStored, metrics });
    t.teardown(() => meter.stop());
    const add = async (count: number) => {
      for (let index = 0; index < count; index += 1) await outbox.append({}, logEntry());
    };

    t.same(await meter.measure(), NOTHING);
    await add(3);
    const waiting = await meter.measure();
    t.equal(waiting.records, 3);
    t.ok(waiting.bytes > 0);
    await ingest();
    t.same(await meter.measure(), NOTHING);
    isAway = true;
    await add(2);
    const [first, second] = [await meter.measure(), await meter.measure()];
    t.equal(first.records, 2);
    t.ok(first.bytes < waiting.bytes, 'what is stored is not counted, although the file still has it');
    t.ok(second.oldestMs >= first.oldestMs, 'the oldest entry ages');
    t.match(await metrics.text(), /assay_outbox_backlog_records\{[^}]*\} 2\n/);
    isAway = false;
    await ingest();
    t.same(await meter.measure(), NOTHING);
  },
);

t.test(
  'a forwarded outbox counts its confirmed entries, also after a restart of the forwarder',
  async (t) => {
    const { id: outboxId, outbox, directory } = await openIn(temporaryRoot(t));
    t.teardown(() => outbox.close());
    for (const head of ['a', 'b', 'c']) await outbox.append({}, rawEntry(head));
    const publish = async (feed: OutboxFeed) => {
      for (const message of await feed.nextMessages(1_000_000)) message.sequence = 1;
      feed.finishChunk();
    };
    const feed = await OutboxFeed.open({ directory, outboxId, lock: null });
    await publish(feed);
    t.equal(feed.stored.entries, 0, 'published is not stored');
    await feed.confirm(1);
    t.equal(feed.stored.entries, 3);
    const next = await OutboxFeed.open({ directory, outboxId, lock: null });
    t.same(next.stored, feed.stored);
    await outbox.append({}, rawEntry('d'));
    await publish(next);
    await next.confirm(1);
    t.equal(next.stored.entries, 4);
  },
);
