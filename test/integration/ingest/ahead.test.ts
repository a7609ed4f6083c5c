import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Sql } from '#platform/postgres/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { logEntryHead } from '../../support/log-entries.ts';
import { outboxWorld } from './outbox-world.ts';

const LIMITS = { maxEntries: 3, maxBytes: 1e6 };
const PRICED = JSON.stringify({
  model: 'gpt-4o-mini',
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** A world whose drains read three entries at a time, over connections that can be told apart. */
async function worldOfThrees(t: Test) {
  const world = await outboxWorld(t);
  const sql = world.connect({ applicationName: 'drain' });
  const ids: string[] = [];
  let read = 0;
  const catalog = {
    costOf: () => {
      read += 1;
      return null;
    },
  };
  return {
    ...world,
    /** The ids of the entries, in their order. */
    ids,
    /** Entries that were read so far, by all drains. */
    read: () => read,
    async putMany(count: number) {
      for (let index = 0; index < count; index += 1) {
        const head = logEntryHead({ createdAtMs: 1_700_000_000_000 + ids.length });
        ids.push(head.id);
        await world.put(head, '{}', PRICED);
      }
    },
    drain: (onStored?: Parameters<typeof world.drain>[0]) =>
      world.drain(onStored, { sql, limits: LIMITS, catalog }),
    /** Lets no batch be stored before the function that it returns is called: each notes its records in this table. */
    async holdBatches(): Promise<() => Promise<void>> {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { promise: held, resolve: hold } = Promise.withResolvers<void>();
      const holding = world.connect().begin(async (tx) => {
        await tx`lock table assay.changes in share mode`;
        hold();
        await released;
      });
      await held;
      return async () => {
        release();
        await holding;
      };
    },
    endConnections: () =>
      world.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'drain' and datname = current_database()`,
  };
}

async function storedIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select request_id as id from assay.requests order by created_at`;
  return rows.map(({ id }) => id);
}

t.test('while Postgres stores a batch, the next one is read, and no further one', async (t) => {
  const { putMany, drain, holdBatches, read, ids, sql } = await worldOfThrees(t);
  await putMany(10);
  const release = await holdBatches();
  const batches: number[] = [];
  const reader = drain(({ stored }) => {
    batches.push(stored);
  });
  reader.stop();
  const running = reader.run();
  await waitFor('the second batch to be read', () => read() === 6);
  // Time enough for further ones.
  await sleep(200);
  t.equal(read(), 6);
  t.same(batches, []);
  await release();
  await running;
  t.same(batches, [3, 3, 3, 1]);
  t.equal(read(), 10, 'each entry was read once');
  t.same(await storedIds(sql), ids);
});

t.test('what was read ahead is stored once when Postgres ends the connection meanwhile', async (t) => {
  const { putMany, drain, holdBatches, endConnections, read, ids, sql } = await worldOfThrees(t);
  await putMany(10);
  const release = await holdBatches();
  const batches: number[] = [];
  const reader = drain(({ stored }) => {
    batches.push(stored);
  });
  const running = reader.run();
  await waitFor('the second batch to be read', () => read() === 6);
  await endConnections();
  await release();
  await waitFor('all batches to be stored', () => batches.length === 4);
  reader.stop();
  await running;
  t.same(batches, [3, 3, 3, 1]);
  t.same(await storedIds(sql), ids);
  t.equal((await sql`select 1 from assay.dead_letters`).length, 0);
});

t.test(
  'processes that read ahead in one outbox, and lose their connections, store each entry once',
  async (t) => {
    const { putMany, drain, endConnections, ids, sql } = await worldOfThrees(t);
    await putMany(240);
    let stored = 0;
    const readers = [1, 2, 3].map(() =>
      drain((result) => {
        stored += result.stored;
      }),
    );
    const running = readers.map((reader) => reader.run());
    for (const least of [30, 80, 130, 180]) {
      await waitFor(`${least} entries to be stored`, () => stored >= least);
      await endConnections();
    }
    await waitFor('all entries to be stored', async () => (await storedIds(sql)).length === ids.length);
    for (const reader of readers) reader.stop();
    await Promise.all(running);
    t.same(await storedIds(sql), ids);
    t.equal((await sql`select 1 from assay.dead_letters`).length, 0);
  },
);
