/** The totals of a session after an erasure are those of its remaining rows, and an erasure does not read these. */
import t from 'tap';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { erase, eraseIn } from '../../support/erase.ts';
import { logEntry } from '../../support/log-entries.ts';
import { seededRandom } from '../../support/random.ts';
import { insertRequests, type SeedRequest } from '../../support/seed-requests.ts';
import { checkTotals } from '../../support/session-totals.ts';
import { createWorld, silentLog } from '../../support/world.ts';

const HOUR_MS = 3_600_000;
const world = await createWorld(t);
const { sql } = world;
const pool = world.connect({ max: 6, statementTimeoutMs: 20_000 });
const random = seededRandom(35);
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
const shuffle = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);

/** Makes a request of one of few sessions, at one of few times, so that requests share them. */
function randomRequest(sessions: number, nowMs: number): Partial<SeedRequest> {
  const session = Math.floor(random() * sessions);
  // Of every third session, the costs are unknown or zero but for a few.
  const costs = session % 3 === 0 ? [null, null, null, 0, 0, 700] : [null, 0, 500, 700, 900];
  return {
    session_id: random() < 0.1 ? null : `session ${session}`,
    session_name: random() < 0.4 ? null : `name ${Math.floor(random() * 40)}`,
    created_at: new Date(nowMs - Math.floor(random() * 8) * HOUR_MS),
    source: random() < 0.1 ? 'evaluator' : 'gateway',
    status: oneOf([200, 200, 500]),
    latency_ms: oneOf([null, 0, 3, 500]),
    prompt_tokens: oneOf([null, 10, 20]),
    completion_tokens: oneOf([null, 5]),
    total_tokens: oneOf([null, 15, 25]),
    cost_nano: oneOf(costs),
  };
}

t.test(
  'whatever requests of whatever sessions are erased, the totals stay those of the rows, until none is left',
  async (t) => {
    const nowMs = Date.now();
    for (const sessions of [1, 6, 60]) {
      const { organizationId } = await world.organization();
      const given = Array.from({ length: 240 }, () => randomRequest(sessions, nowMs));
      const rows = await insertRequests(sql, organizationId, given);
      await sql`update assay.sessions set tag = session_id where organization_id = ${organizationId}`;
      const left = shuffle(rows.map(({ request_id }) => request_id));
      while (left.length > 0) {
        await erase(sql, organizationId, ...left.splice(0, Math.ceil(random() * 12)));
        await checkTotals(t, sql, organizationId);
        if (!t.passing()) return;
      }
      const [rest] = await sql`
        select count(*)::int from assay.session_names where organization_id = ${organizationId}`;
      t.equal(rest!.count, 0, 'names go with the last request that has them');
    }
  },
);

t.test('a session keeps its tag when some of its requests are erased', async (t) => {
  const { organizationId } = await world.organization();
  const [row] = await insertRequests(sql, organizationId, [{ session_id: 's' }, { session_id: 's' }]);
  await sql`update assay.sessions set tag = 'kept' where organization_id = ${organizationId}`;
  await erase(sql, organizationId, row!.request_id);
  const [session] =
    await sql`select tag, requests from assay.sessions where organization_id = ${organizationId}`;
  t.same(session, { tag: 'kept', requests: '1' });
});

t.test(
  'totals stay those of the rows while records are stored, once and again, and others are erased',
  async (t) => {
    const { organizationId } = await world.organization();
    const entries = Array.from({ length: 300 }, (_, index) => ({
      ...logEntry(
        {
          organizationId,
          sessionId: `session ${index % 5}`,
          sessionName: index % 3 === 0 ? null : `name ${index % 7}`,
          createdAtMs: Date.now() - Math.floor(random() * 20) * HOUR_MS,
        },
        {
          response:
            random() < 0.3
              ? {}
              : {
                  model: 'gpt-4o-mini',
                  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
                },
        },
      ),
      origin: `test/${index}`,
    }));
    const store = async () => {
      const own = new BatchStore({ sql: pool, log: silentLog, clock: systemClock, retentionDays: null });
      for (let from = 0; from < entries.length; from += 15) {
        await own.store({ entries: entries.slice(from, from + 15) });
      }
    };
    const eraseSome = async () => {
      for (let times = 0; times < 40; times += 1) {
        const ids = Array.from({ length: 4 }, () => oneOf(entries).id);
        await erase(pool, organizationId, ...ids);
      }
    };
    await Promise.all([store(), store(), eraseSome(), eraseSome()]);
    t.equal(await checkTotals(t, sql, organizationId), 5);
    await store();
    t.equal(await checkTotals(t, sql, organizationId), 5, 'what was erased is not counted again');
  },
);

t.test('a session without totals, or with too low ones, gets the right ones at an erasure', async (t) => {
  for (const change of ['delete from assay.sessions', 'update assay.sessions set requests = 1']) {
    const { organizationId } = await world.organization();
    const rows = await insertRequests(sql, organizationId, [
      { session_id: 's', session_name: 'a' },
      { session_id: 's' },
      { session_id: 's' },
    ]);
    await sql.unsafe(`${change} where organization_id = '${organizationId}'`);
    await erase(sql, organizationId, rows[1]!.request_id);
    t.equal(await checkTotals(t, sql, organizationId), 1, change);
  }
});

t.test('a late erasure marks the span in which its session began, before and after', async (t) => {
  const { organizationId } = await world.organization();
  const ago = (spans: number) => new Date((Math.floor(Date.now() / HOUR_MS / 6) - spans + 0.5) * 6 * HOUR_MS);
  const [oldest] = await insertRequests(sql, organizationId, [
    { session_id: 's', created_at: ago(9) },
    { session_id: 's', created_at: ago(5) },
  ]);
  await sql`delete from assay.session_spans where organization_id = ${organizationId}`;
  await erase(sql, organizationId, oldest!.request_id);
  const spans = await sql<{ began_at: Date }[]>`
    select began_at from assay.session_spans where organization_id = ${organizationId} order by began_at`;
  const begin = (at: Date) => new Date(at.getTime() - 3 * HOUR_MS);
  t.same(
    spans.map(({ began_at }) => began_at),
    [begin(ago(9)), begin(ago(5))],
  );
});

/** Returns how many rows of requests this connection has read. */
async function countReads(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_xact_user_tables where schemaname = 'assay' and relname ~ '^requests_w'`;
  return row!.rows;
}

t.test('an erasure reads a few rows of a long session, whichever of its requests is erased', async (t) => {
  const { organizationId } = await world.organization();
  const length = 3_000;
  // Two of each kind are at the far ends, so that a walk from one to the other would be a long one.
  const insert = (session: string, name: string, cost: string) =>
    sql.unsafe(`
      insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, latency_ms,
                                  session_id, session_name, is_stream, truncated, cost_nano)
      select '${organizationId}', now() - i * interval '1 second', '${session}' || i, 'gateway', '/', 'OPENAI', 'm', 200, 5,
             '${session}', ${name}, false, false, ${cost}
        from generate_series(1, ${length}) i`);
  await sql`select assay.ensure_partitions(now()), assay.ensure_partitions(now() - interval '1 day')`;
  await insert('plain', `'nightly'`, '1000');
  await insert('named', `'n' || i`, '1000');
  await insert(
    'ends',
    `case when i in (1, ${length}) then 'n' || i end`,
    `case when i in (1, ${length}) then 0 end`,
  );
  await sql`select assay.recount_sessions(${organizationId}, array['plain', 'named', 'ends'])`;
  await sql`analyze assay.requests`;
  for (const session of ['plain', 'named', 'ends']) {
    for (const place of [1, length / 2, length]) {
      const read = await sql.begin(async (tx) => {
        const before = await countReads(tx);
        await eraseIn(tx, organizationId, [`${session}${place}`]);
        return (await countReads(tx)) - before;
      });
      // Some sixty, and more where autovacuum has not seen the pages yet: a walk reads thousands.
      t.ok(read > 0 && read < 300, `${session} ${place}: ${read} rows`);
      await checkTotals(t, sql, organizationId);
    }
  }
});

t.test('a recount reads the rows of its sessions alone, among many weeks that were analyzed', async (t) => {
  const { organizationId } = await world.organization();
  const weeks = 40;
  for (let week = 0; week < weeks; week += 1) {
    const last = new Date(Date.now() - week * 7 * 86_400_000);
    await sql`select assay.ensure_partitions(${last}::timestamptz), assay.ensure_partitions(${last}::timestamptz - interval '1 day')`;
    await sql`
      insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, latency_ms,
                                  session_id, session_name, is_stream, truncated)
      select ${organizationId}, ${last}::timestamptz - i * interval '1 second', ${week} || '-' || i, 'gateway', '/', 'OPENAI', 'm', 200, 5,
             's' || i / 5 || '-' || ${week}, 'name ' || i / 5, false, false
        from generate_series(0, 499) i`;
  }
  const ids = Array.from({ length: 100 }, (_, index) => `s${index}-${weeks - 1}`);
  await sql`vacuum (analyze)`;
  const read = await sql.begin(async (tx) => {
    const before = await countReads(tx);
    await tx`select assay.recount_sessions(${organizationId}, ${ids}::text[])`;
    return (await countReads(tx)) - before;
  });
  t.ok(read >= 500 && read < 3_000, `${read} of ${weeks * 500} rows`);
});
