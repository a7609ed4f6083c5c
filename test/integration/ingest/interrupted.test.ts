import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { listOutboxes } from '#platform/log-pipeline/outbox/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { Drain } from '../../../ingest/drain.ts';
import { logEntry } from '../../support/log-entries.ts';
import { openIn, temporaryRoot } from '../../support/outbox.ts';
import { databaseFor } from '../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });

async function setUp(t: Test) {
  const database = await databaseFor(t);
  const root = temporaryRoot(t);
  const { sql } = database;
  /** Reads everything that is there, as a process of its own would. */
  const ingest = async (limits?: { maxEntries: number; maxBytes: number }) => {
    const drain = new Drain({
      root,
      sql,
      log,
      clock: systemClock,
      retentionDays: null,
      onStored: () => {},
      ...(limits && { limits }),
    });
    drain.stop();
    await drain.run();
  };
  const statuses = async () =>
    Object.fromEntries(
      (await sql`select request_id, status from assay.requests`).map((row) => [row.request_id, row.status]),
    );
  return { root, sql, ingest, statuses };
}

/** What a gateway writes before it calls the provider. */
function start(entry: LogEntry & { id: string }): LogEntry {
  const head = JSON.parse(Buffer.from(entry.head).toString());
  return { ...entry, head: Buffer.from(JSON.stringify({ ...head, status: 0, truncated: true })) };
}

t.test(
  'the calls that a killed gateway interrupted are stored, in batches, before its outbox is removed',
  async (t) => {
    const { root, ingest, statuses } = await setUp(t);
    const { outbox } = await openIn(root);
    const entries = Array.from({ length: 7 }, () => logEntry());
    for (const entry of entries) await outbox.begin(entry, start(entry));
    for (const entry of entries.slice(0, 2)) await outbox.append(entry, entry);
    await ingest();
    t.equal(Object.keys(await statuses()).length, 2, 'as long as it lives they are under way');
    // Closing frees the lock, as the death of the process would.
    await outbox.close();
    await ingest({ maxEntries: 2, maxBytes: 1_000_000 });
    const expected = entries.map(({ id }, index) => [id, index < 2 ? 200 : 0]);
    t.same(await statuses(), Object.fromEntries(expected));
    t.same(await listOutboxes(root), []);
  },
);

t.test('interrupted calls are stored once when ingest dies before it removes the outbox', async (t) => {
  const { root, sql, ingest } = await setUp(t);
  const { outbox, directory } = await openIn(root);
  const entry = logEntry();
  await outbox.begin(entry, start(entry));
  await outbox.close();
  cpSync(directory, `${root}-kept`, { recursive: true });
  t.teardown(() => rmSync(`${root}-kept`, { recursive: true, force: true }));
  await ingest();
  cpSync(`${root}-kept`, join(root, 'again'), { recursive: true });
  await ingest();
  t.same(await listOutboxes(root), []);
  t.equal((await sql`select 1 from assay.requests`).length, 1);
  t.equal((await sql`select 1 from assay.dead_letters`).length, 0);
});

t.test(
  'the outbox of interrupted calls that Postgres refuses stays, and the next ingest can take it',
  async (t) => {
    const { root, sql, ingest, statuses } = await setUp(t);
    const { outbox, id } = await openIn(root);
    const entry = logEntry();
    await outbox.begin(entry, start(entry));
    await outbox.close();
    await sql`create function assay.refuse() returns trigger language plpgsql as $$ begin raise exception sqlstate '57P03'; end $$`;
    await sql`create trigger refuse before insert on assay.request_bodies execute function assay.refuse()`;
    await ingest();
    t.same(await listOutboxes(root), [id]);
    await sql`drop trigger refuse on assay.request_bodies`;
    await ingest();
    t.same(await statuses(), { [entry.id]: 0 });
    t.same(await listOutboxes(root), []);
  },
);

t.test('STARTs cost no transaction: the cursor passes them with the next entry', async (t) => {
  const { root, sql, ingest, statuses } = await setUp(t);
  const { outbox } = await openIn(root);
  const entry = logEntry();
  await outbox.begin(entry, start(entry));
  await ingest();
  t.equal((await sql`select 1 from assay.outbox_cursors`).length, 0);
  await outbox.append(entry, entry);
  await ingest();
  t.same(await statuses(), { [entry.id]: 200 });
  await outbox.close();
});
