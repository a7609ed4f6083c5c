/** Large bodies that are stored as they came, and compressed later. */
import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { BodyCompressor, compressBodies, compressesSlowly } from '../../../ingest/compress-bodies.ts';
import { keepPartitionsOnce } from '../../../ingest/retention.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { waitFor } from '../../support/assay.ts';
import { eraseIn, waitingForLocks } from '../../support/erase.ts';
import { logEntry, TEST_ORGANIZATION } from '../../support/log-entries.ts';
import { connectAsApi, openTransaction } from '../../support/postgres.ts';
import { createWorld, silentLog } from '../../support/world.ts';

const world = await createWorld(t);
const { sql } = world;
const pool = world.connect({ max: 6, statementTimeoutMs: 20_000 });
t.beforeEach(() => sql`truncate assay.requests, assay.request_bodies, assay.fresh_bodies`);

let told = 0;
const store = new BatchStore({
  sql: pool,
  log: silentLog,
  clock: systemClock,
  retentionDays: null,
  onFreshBodies() {
    told += 1;
  },
});

const QUESTION = 'What came in is what is read. '.repeat(1_000);

function largeEntry(id?: string) {
  const head = id === undefined ? {} : { id };
  const entry = logEntry(head, { request: { question: QUESTION }, response: { answer: QUESTION } });
  return { ...entry, origin: 'test/0/0' };
}

async function put(count: number) {
  const entries = Array.from({ length: count }, () => largeEntry());
  await store.store({ entries });
  return entries;
}

/** Rows by table. */
async function whereBodiesAre() {
  const [row] = await sql<{ fresh: number; compressed: number }[]>`
    select (select count(*)::int from assay.fresh_bodies) as fresh,
           (select count(*)::int from assay.request_bodies) as compressed`;
  return row!;
}

t.test(
  'large bodies are stored as they came, small ones compressed at once, and only the first are told',
  async (t) => {
    told = 0;
    await store.store({ entries: [{ ...logEntry(), origin: 'test/0/0' }] });
    t.same(await whereBodiesAre(), { fresh: 0, compressed: 1 });
    t.equal(told, 0);
    await put(1);
    t.same(await whereBodiesAre(), { fresh: 1, compressed: 1 });
    t.equal(told, 1);
    const [row] = await sql`
    select pg_column_size(request_text) as stored, octet_length(request_text) as bytes from assay.fresh_bodies`;
    t.equal(row!.stored, row!.bytes);
  },
);

t.test('a compressed body takes less room, and is read as it came', async (t) => {
  const [entry] = await put(1);
  t.equal(await compressBodies(sql), 1);
  t.same(await whereBodiesAre(), { fresh: 0, compressed: 1 });
  const [row] = await sql`
    select pg_column_size(request_text) as stored, octet_length(request_text) as bytes, request_text, response_text
      from assay.bodies where request_id = ${entry!.id}`;
  t.ok(row!.stored < row!.bytes / 2, `${row!.stored} of ${row!.bytes} bytes`);
  t.same(JSON.parse(row!.request_text), { question: QUESTION });
  t.same(JSON.parse(row!.response_text), { answer: QUESTION });
});

t.test('several processes move bodies at once, and every reader finds each exactly once', async (t) => {
  const COUNT = 120;
  await put(COUNT);
  let isMoving = true;
  const counts = new Set<number>();
  const read = async () => {
    while (isMoving) {
      const [row] = await pool<{ bodies: number }[]>`select count(*)::int as bodies from assay.bodies`;
      counts.add(row!.bodies);
    }
  };
  const move = async () => {
    let moved = 0;
    for (let last = 1; last > 0; moved += last) last = await compressBodies(pool, 3);
    return moved;
  };
  const reading = read();
  const moved = await Promise.all([move(), move(), move()]);
  isMoving = false;
  await reading;
  t.equal(
    moved.reduce((sum, one) => sum + one, 0),
    COUNT,
  );
  t.same([...counts], [COUNT]);
  t.same(await whereBodiesAre(), { fresh: 0, compressed: COUNT });
});

t.test('an entry that is delivered again adds no second bodies, wherever the first are', async (t) => {
  const [entry] = await put(1);
  await store.store({ entries: [entry!] });
  t.same(await whereBodiesAre(), { fresh: 1, compressed: 0 });
  await compressBodies(sql);
  await store.store({ entries: [entry!, largeEntry()] });
  t.same(await whereBodiesAre(), { fresh: 1, compressed: 1 });
});

t.test('an erasure removes bodies that are being moved, and those that were not moved yet', async (t) => {
  const entries = await put(2);
  const moving = await openTransaction(pool, (tx) => compressBodies(tx as never, 1));
  const erasing = sql.begin((tx) =>
    eraseIn(
      tx,
      TEST_ORGANIZATION,
      entries.map(({ id }) => id),
    ),
  );
  erasing.catch(() => {});
  await waitFor('the erasure to wait for the move', async () => (await waitingForLocks(pool)) > 0);
  await moving.end();
  t.match(await erasing, { erased: 2 });
  t.same(await whereBodiesAre(), { fresh: 0, compressed: 0 });
});

t.test(
  'bodies older than the retention are dropped with their week, and the others still move',
  async (t) => {
    const WEEK_MS = 7 * 86_400_000;
    const old = new Date(Date.now() - 5 * WEEK_MS);
    const [entry] = await put(1);
    await sql`insert into assay.fresh_bodies select ${TEST_ORGANIZATION}, ${old}, 'old', '{}', '{}'`;
    await keepPartitionsOnce({
      url: world.database.url,
      clock: systemClock,
      log: silentLog,
      retentionDays: 14,
    });
    t.equal(await compressBodies(sql), 1);
    t.same(
      (await sql`select request_id from assay.bodies`).map(({ request_id }) => request_id),
      [entry!.id],
    );
  },
);

t.test('another organization sees none of the fresh bodies', async (t) => {
  await put(1);
  const api = connectAsApi(world.database.url);
  t.teardown(() => api.end());
  const other = '00000000-0000-4000-8000-000000000002';
  for (const [organization, expected] of [
    [TEST_ORGANIZATION, 1],
    [other, 0],
  ] as const) {
    for (const table of ['bodies', 'fresh_bodies']) {
      const seen = await inOrganization(
        api,
        organization,
        (tx) => tx`select request_id from ${tx(`assay.${table}`)}`,
      );
      t.equal(seen.length, expected, `${table} of ${organization}`);
    }
  }
});

t.test('the compressor moves what it finds and what it is told of, and goes on after failures', async (t) => {
  t.ok(await compressesSlowly(sql), 'the embedded PostgreSQL has pglz only');
  await put(1);
  const compressor = new BodyCompressor({ sql: pool, log: silentLog });
  const running = compressor.run();
  t.teardown(async () => {
    compressor.stop();
    await running;
  });
  await waitFor('the first to be compressed', async () => (await whereBodiesAre()).compressed === 1);

  await sql`create function assay.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`;
  await sql`create trigger refuse before insert on assay.request_bodies execute function assay.refuse()`;
  await put(1);
  compressor.setPace(true);
  compressor.wake();
  await t.rejects(compressBodies(pool));
  t.same(await whereBodiesAre(), { fresh: 1, compressed: 1 }, 'nothing is half moved');
  await sql`drop trigger refuse on assay.request_bodies`;
  await waitFor('the second to be compressed', async () => (await whereBodiesAre()).compressed === 2);
});
