import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { BatchEntry } from '../../../ingest/prepare-batch.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { logEntry } from '../../support/log-entries.ts';
import { databaseFor } from '../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const DAY_MS = 86_400_000;

t.test(
  'an entry older than the retention is counted as expired, and its dropped week is not created again',
  async (t) => {
    const database = await databaseFor(t);
    const { sql } = database;
    const store = new BatchStore({ sql, log, clock: systemClock, retentionDays: 30 });
    const partitions = async () =>
      (await sql`select inhrelid from pg_inherits where inhparent = 'assay.requests'::regclass`).length;
    const entryOf = (daysAgo: number): BatchEntry => ({
      ...logEntry({ createdAtMs: Date.now() - daysAgo * DAY_MS }),
      origin: `test/${daysAgo}`,
    });
    t.same(await store.store({ entries: [entryOf(31), entryOf(90)] }), {
      stored: 0,
      deadLetters: 0,
      expired: 2,
      erased: 0,
    });
    t.equal(await partitions(), 0);
    t.same(await store.store({ entries: [entryOf(31), entryOf(29)] }), {
      stored: 1,
      deadLetters: 0,
      expired: 1,
      erased: 0,
    });
    t.equal(await partitions(), 1);
  },
);

t.test(
  'an entry whose week was dropped since another was stored in it gets its partitions again',
  async (t) => {
    const { sql } = await databaseFor(t);
    const store = new BatchStore({ sql, log, clock: systemClock, retentionDays: null });
    const put = () =>
      store.store({ entries: [{ ...logEntry({ createdAtMs: Date.now() }), origin: 'test' }] });
    await put();
    const parts = await sql<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = 'assay'::regnamespace and relkind = 'r' and relname ~ '_w[0-9]{8}$'`;
    await sql`drop table ${sql(parts.map(({ name }) => `assay.${name}`))}`;
    t.match(await put(), { stored: 1, deadLetters: 0 });
    t.equal((await sql`select 1 from assay.requests`).length, 1);
  },
);

t.test('a clock of ingest that is ahead makes no entry expire', async (t) => {
  const { sql } = await databaseFor(t);
  const clock = { ...systemClock, now: () => Date.now() + 40 * DAY_MS };
  const store = new BatchStore({ sql, log, clock, retentionDays: 30 });
  const entryOf = (daysAgo: number): BatchEntry => ({
    ...logEntry({ createdAtMs: Date.now() - daysAgo * DAY_MS }),
    origin: `test/${daysAgo}`,
  });
  t.match(await store.store({ entries: [entryOf(0), entryOf(29), entryOf(31)] }), { stored: 2, expired: 1 });
});

t.test('an entry that a clock without a battery dated 1970 becomes a dead letter', async (t) => {
  const { sql } = await databaseFor(t);
  const store = new BatchStore({ sql, log, clock: systemClock, retentionDays: 30 });
  const entry = { ...logEntry({ createdAtMs: 60_000 }), origin: 'test' };
  t.match(await store.store({ entries: [entry] }), { stored: 0, deadLetters: 1, expired: 0 });
});
