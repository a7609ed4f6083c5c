import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { createOrganization } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import {
  isExpired,
  type KeepOptions,
  keepPartitionsOnce,
  startPartitionKeeper,
} from '../../../ingest/retention.ts';
import { waitFor } from '../../support/assay.ts';
import { connectAsApi, openTransaction } from '../../support/postgres.ts';
import { insertRequests } from '../../support/seed-requests.ts';
import { databaseFor } from '../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** A Wednesday, 23 October 2024, noon. */
const NOW = Date.UTC(2024, 9, 23, 12);
const clock: Clock = { now: () => NOW, monotonic: () => performance.now() };

/** The Mondays of the weeks that have partitions of all four tables, attached; others fail the test. */
async function weeksOf(t: Test, sql: Sql): Promise<string[]> {
  const rows = await sql<{ week: string; tables: number; attached: number }[]>`
    select right(relname, 8) as week, count(*)::int as tables, count(inhrelid)::int as attached
      from pg_class c left join pg_inherits i on i.inhrelid = c.oid and not inhdetachpending
     where relnamespace = 'assay'::regnamespace and relkind = 'r' and relname ~ '_w[0-9]{8}$' group by 1 order by 1`;
  for (const { week, tables, attached } of rows)
    t.same({ week, tables, attached }, { week, tables: 4, attached: 4 });
  return rows.map(({ week }) => week);
}

async function setUp(t: Test, options: { retentionDays: number | null; weeks?: number }) {
  const database = await databaseFor(t);
  const { sql, url } = database;
  // The weeks before this one, oldest first, with this week as the last.
  for (let back = (options.weeks ?? 0) - 1; back >= 0; back -= 1) {
    await sql`select assay.ensure_partitions(${new Date(NOW - back * WEEK_MS)})`;
  }
  const keep: KeepOptions = { url, clock, log, retentionDays: options.retentionDays };
  return { database, sql, url, keep };
}

/** Queries and inserts without end, on connections of their own; `stop` rejects when one failed. */
function load(url: string, organizationId: string) {
  const sql = connectPostgres({ url, max: 4, applicationName: 'load', statementTimeoutMs: 20_000 });
  let isRunning = true;
  const done = { queries: 0, inserts: 0 };
  // Two that lock the tables in opposite orders, and one that is planned once and run many times.
  const queries = [
    () => sql`
      select count(*) from assay.request_scores s
        join assay.requests r using (organization_id, created_at, request_id)`,
    () => sql`
      select count(*) from assay.requests r
        join assay.request_bodies b using (organization_id, created_at, request_id)
        join assay.request_scores s using (organization_id, created_at, request_id)`,
    () => sql`select status from assay.requests where organization_id = ${organizationId} limit 100`,
  ];
  const query = async (run: () => PromiseLike<unknown>) => {
    while (isRunning) {
      await run();
      done.queries += 1;
    }
  };
  const insert = async () => {
    while (isRunning) {
      await insertRequests(sql, organizationId, [
        { created_at: new Date(NOW), properties: { plan: 'pro' }, scores: { polite: 1 } },
      ]);
      done.inserts += 1;
    }
  };
  const running = Promise.all([insert(), ...queries.map(query)]);
  return {
    done,
    async stop() {
      isRunning = false;
      try {
        await running;
      } finally {
        await sql.end();
      }
    },
  };
}

/** A transaction that has read `table`, and stays open until it is ended. */
async function openReader(url: string, table: string) {
  const sql = connectPostgres({ url, max: 1, applicationName: 'reader', statementTimeoutMs: 60_000 });
  const transaction = await openTransaction(sql, (tx) => tx`select count(*) from ${tx(`assay.${table}`)}`);
  return {
    async end() {
      await transaction.end();
      await sql.end();
    },
  };
}

/** Named by its partition: one that nobody holds up is pending too, for a moment. */
const aDetachWaits = (sql: Sql, partition: string) =>
  waitFor(`the detach of ${partition} to wait`, async () => {
    const rows = await sql`
      select 1 from pg_inherits where inhdetachpending and inhrelid = to_regclass(${`assay.${partition}`})`;
    return rows.length > 0;
  });

t.test('an entry is expired once it is older than the retention, and never without one', async (t) => {
  t.equal(isExpired(NOW - 30 * DAY_MS, NOW, 30), false);
  t.equal(isExpired(NOW - 30 * DAY_MS - 1, NOW, 30), true);
  t.equal(isExpired(0, NOW, null), false);
  t.equal(isExpired(0, NOW, 30), false, 'no clock that is right gives this time');
});

t.test(
  'partitions are created for this week and the next two, and nothing is dropped without a retention',
  async (t) => {
    const { sql, keep } = await setUp(t, { retentionDays: null, weeks: 60 });
    t.same(await keepPartitionsOnce(keep), {
      weeks: [],
      claimedRequestIds: 0,
      deadLetters: 0,
      evaluations: 0,
    });
    const weeks = await weeksOf(t, sql);
    t.equal(weeks.length, 62);
    t.same(weeks.slice(-3), ['20241021', '20241028', '20241104']);
  },
);

t.test('old weeks are dropped while queries and inserts run, and neither breaks the other', async (t) => {
  const { sql, url, keep } = await setUp(t, { retentionDays: 63, weeks: 60 });
  const { organizationId } = await createOrganization(sql, { name: 'acme' });
  const each = Array.from({ length: 60 }, (_, back) => new Date(NOW - back * WEEK_MS));
  await insertRequests(
    sql,
    organizationId,
    each.map((created_at) => ({ created_at, properties: { plan: 'pro' } })),
  );
  const others = load(url, organizationId);
  const dropped = await keepPartitionsOnce(keep);
  const { inserts } = others.done;
  await t.resolves(others.stop(), 'no query and no insert failed');
  t.ok(inserts > 0 && others.done.queries > 0);
  t.equal(dropped?.weeks.length, 50);
  t.equal((await weeksOf(t, sql)).length, 12, 'ten are kept, and two are ahead');
  const [oldest] = await sql`select min(created_at) as at from assay.requests`;
  t.same(oldest?.at, new Date(NOW - 9 * WEEK_MS), 'what is as old as the retention is there');
});

t.test('a week is dropped when its last moment is older than the retention, and not before', async (t) => {
  // 20 days before Wednesday noon lie in the week of Monday, 30 September.
  const { sql, keep } = await setUp(t, { retentionDays: 20, weeks: 6 });
  t.same((await keepPartitionsOnce(keep))?.weeks, ['20240916', '20240923']);
  const monday = Date.UTC(2024, 8, 30);
  const at = (nowMs: number) => ({ ...keep, clock: { ...clock, now: () => nowMs } });
  const end = monday + WEEK_MS + 20 * DAY_MS;
  t.same((await keepPartitionsOnce(at(end)))?.weeks, [], 'clocks may differ by a little');
  t.same((await keepPartitionsOnce(at(end + 3_600_000)))?.weeks, ['20240930']);
  t.equal((await weeksOf(t, sql))[0], '20241007');
});

t.test(
  'a keeper whose clock is days ahead drops nothing that is young by the clock of Postgres',
  async (t) => {
    const { sql, url } = await databaseFor(t);
    const ahead: Clock = { ...clock, now: () => Date.now() + 9 * DAY_MS };
    await sql`select assay.ensure_partitions(now()), assay.ensure_partitions(now() - interval '5 weeks')`;
    const dropped = await keepPartitionsOnce({ url, clock: ahead, log, retentionDays: 1 });
    t.equal(dropped?.weeks.length, 1);
    const [kept] = await sql`
    select to_regclass('assay.requests_w' || to_char(date_trunc('week', now() at time zone 'UTC'), 'YYYYMMDD')) is not null as week`;
    t.equal(kept!.week, true);
  },
);

t.test('several keepers that start together drop each week once, and none of them fails', async (t) => {
  const { sql, keep } = await setUp(t, { retentionDays: 14, weeks: 12 });
  const rounds = await Promise.all([1, 2, 3, 4].map(() => keepPartitionsOnce(keep)));
  const weeks = rounds.flatMap((round) => round?.weeks ?? []);
  t.equal(weeks.length, 9);
  t.equal(new Set(weeks).size, 9);
  t.equal((await weeksOf(t, sql)).length, 5);
  t.same((await keepPartitionsOnce(keep))?.weeks, [], 'and nothing is left to do');
});

t.test('a keeper continues the detach of one that was killed, at whatever step', async (t) => {
  const { sql, url, keep } = await setUp(t, { retentionDays: 14, weeks: 8 });
  const reader = await openReader(url, 'request_bodies');
  // The first table of the oldest week is detached; the second waits for the reader, and is cut off.
  const stopping = new AbortController();
  const killed = keepPartitionsOnce(keep, stopping.signal);
  await aDetachWaits(sql, 'request_bodies_w20240902');
  stopping.abort();
  await t.rejects(killed);
  // Ends sessions of this database alone: other tests share the server.
  const own = sql`datname = current_database() and application_name = 'assay-partitions'`;
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where ${own}`;
  await waitFor('its session to end', async () => {
    const rows = await sql`select 1 from pg_stat_activity where ${own}`;
    return rows.length === 0;
  });
  await reader.end();
  const half = await sql`
    select relname, inhdetachpending as pending
      from pg_class left join pg_inherits on inhrelid = pg_class.oid
     where relkind = 'r' and relname ~ '_w20240902$' order by relname`;
  t.same(
    [...half],
    [
      { relname: 'request_bodies_w20240902', pending: true },
      { relname: 'request_properties_w20240902', pending: false },
      { relname: 'request_scores_w20240902', pending: false },
      { relname: 'requests_w20240902', pending: null },
    ],
  );
  const round = await keepPartitionsOnce({ ...keep, retentionDays: null });
  t.same(round?.weeks, ['20240902'], 'what was begun is finished');
  t.same((await keepPartitionsOnce(keep))?.weeks.length, 4);
  t.equal((await weeksOf(t, sql)).length, 5);
});

t.test('a detach that waits for its lock blocks no query and no insert', async (t) => {
  const { sql, url, keep } = await setUp(t, { retentionDays: 14, weeks: 4 });
  const reader = await openReader(url, 'requests');
  const keeping = keepPartitionsOnce(keep);
  await aDetachWaits(sql, 'requests_w20240930');
  const others = connectPostgres({ url, max: 1, applicationName: 'others', statementTimeoutMs: 2_000 });
  await t.resolves(others`select count(*) from assay.requests`, 'queries go on');
  await t.resolves(others`select assay.ensure_partitions('2024-11-25T00:00:00Z')`, 'partitions are made');
  await others.end();
  await reader.end();
  t.same((await keeping)?.weeks, ['20240930']);
});

t.test('a table that an operator detached is not dropped', async (t) => {
  const { sql, keep } = await setUp(t, { retentionDays: 14, weeks: 5 });
  await sql`alter table assay.requests detach partition assay.requests_w20240923`;
  await keepPartitionsOnce(keep);
  const left = await sql`
    select relname from pg_class where relkind = 'r' and relname ~ '_w2024092' order by 1`;
  t.same(
    left.map((row) => row.relname),
    ['requests_w20240923'],
  );
});

t.test('only the owner may read a detached table', async (t) => {
  const { sql, url } = await setUp(t, { retentionDays: 14, weeks: 2 });
  const { organizationId } = await createOrganization(sql, { name: 'acme' });
  await insertRequests(sql, organizationId, [
    { created_at: new Date(NOW - WEEK_MS) },
    { created_at: new Date(NOW) },
  ]);
  const api = connectAsApi(url);
  t.teardown(() => api.end());
  const count = (table: string) =>
    inOrganization(api, organizationId, (tx) => tx`select 1 from ${tx(`assay.${table}`)}`).then(
      (rows) => rows.length,
    );
  t.equal(await count('requests'), 2);
  await sql`alter table assay.requests detach partition assay.requests_w20241014 concurrently`;
  t.equal(await count('requests'), 1, 'who may see the rest sees it as before');
  await t.rejects(count('requests_w20241014'), { code: '42501' });
});

t.test(
  'claimed and erased request ids, dead letters and evaluations are deleted with the records of their time',
  async (t) => {
    const { sql, keep } = await setUp(t, { retentionDays: 20, weeks: 1 });
    const monday = new Date(Date.UTC(2024, 8, 30));
    const before = new Date(monday.getTime() - 1);
    await sql`
    insert into assay.claimed_request_ids (organization_id, request_id, claimed_at)
    select gen_random_uuid(), i::text, case when i <= 12000 then ${before}::timestamptz else ${monday}::timestamptz end
      from generate_series(1, 12100) i`;
    await sql`
    insert into assay.dead_letters (origin, reason, entry, created_at)
    values ('a', 'r', 'a', ${before}), ('b', 'r', 'b', ${monday})`;
    await sql`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, lane, priority, state, due_at, scheduled_at)
    select gen_random_uuid(), gen_random_uuid(), 1, at, id, 'python', 0, state, now(), now()
      from (values (${before}::timestamptz, 'old', 'completed'), (${before}, 'stuck', 'pending'), (${monday}, 'new', 'completed'))
        as made (at, id, state)`;
    await sql`
    insert into assay.erased_requests (organization_id, request_id, erased_at)
    values (gen_random_uuid(), 'old', ${before}), (gen_random_uuid(), 'new', ${monday})`;
    await sql`
    insert into assay.erased_evaluations (evaluation_id, organization_id, erased_at)
    values (1, gen_random_uuid(), ${before}), (2, gen_random_uuid(), ${monday})`;
    t.same(await keepPartitionsOnce({ ...keep, retentionDays: null }), {
      weeks: [],
      claimedRequestIds: 0,
      deadLetters: 0,
      evaluations: 0,
    });
    t.same(await keepPartitionsOnce(keep), {
      weeks: [],
      claimedRequestIds: 12_000,
      deadLetters: 1,
      evaluations: 2,
    });
    const [left] = await sql`
    select (select count(*)::int from assay.claimed_request_ids) ids, (select count(*)::int from assay.dead_letters) letters,
           (select array_agg(request_id) from assay.evaluations) evaluations,
           (select array_agg(request_id) from assay.erased_requests) erased,
           (select array_agg(evaluation_id::int) from assay.erased_evaluations) judged`;
    t.same(left, { ids: 100, letters: 1, evaluations: ['new'], erased: ['new'], judged: [2] });
  },
);

t.test("people's grades and the items of review queues are deleted with their requests", async (t) => {
  const { sql, keep } = await setUp(t, { retentionDays: 20, weeks: 1 });
  const monday = new Date(Date.UTC(2024, 8, 30));
  const { organizationId } = await createOrganization(sql, { name: 'graded' });
  const of = { organization_id: organizationId, created_at: monday, updated_at: monday };
  const [criterion] = await sql`
    insert into assay.criteria ${sql({
      ...of,
      criterion_id: randomUUID(),
      name: 'a',
      folded_name: 'a',
      description: '',
      kind: { type: 'boolean' },
    })} returning criterion_id`;
  const [queue] = await sql`
    insert into assay.review_queues ${sql({
      ...of,
      queue_id: randomUUID(),
      name: 'a',
      folded_name: 'a',
      criterion_ids: [randomUUID()],
      source: {},
      per_item: 1,
    })} returning queue_id`;
  for (const [position, [id, at]] of [
    ['old', new Date(monday.getTime() - 1)] as const,
    ['new', monday] as const,
  ].entries()) {
    const request = { organization_id: organizationId, request_id: id };
    const by = { person: 'author Ada', key_id: randomUUID() };
    const said = { value: 1, graded_at: at, created_at: at, criterion_id: criterion!.criterion_id };
    const { key_id, ...formerBy } = by;
    await sql`insert into assay.grades ${sql({ ...request, ...by, ...said })}`;
    await sql`insert into assay.grade_history ${sql({ ...request, ...formerBy, ...said, ended_at: at })}`;
    const item = { ...request, queue_id: queue!.queue_id };
    await sql`insert into assay.review_items ${sql({ ...item, position, created_at: at })}`;
    await sql`insert into assay.review_skips ${sql({ ...item, ...by, skipped_at: at })}`;
  }
  await keepPartitionsOnce(keep);
  for (const table of ['grades', 'grade_history', 'review_items', 'review_skips']) {
    const rows = await sql<{ request_id: string }[]>`select request_id from ${sql(`assay.${table}`)}`;
    t.same(
      rows.map(({ request_id }) => request_id),
      ['new'],
      table,
    );
  }
});

t.test(
  'a session that cannot be counted again, and a table that cannot be cleared, keep nothing else from being dropped',
  async (t) => {
    const { sql, keep } = await setUp(t, { retentionDays: 14, weeks: 5 });
    const { organizationId } = await createOrganization(sql, { name: 'acme' });
    const before = new Date(NOW - 4 * WEEK_MS);
    const sessions = Array.from({ length: 5 }, (_, index) => `session ${index}`);
    await insertRequests(
      sql,
      organizationId,
      sessions.flatMap((session_id) => [
        { session_id, created_at: before },
        { session_id, created_at: new Date(NOW) },
      ]),
    );
    // So long that it is counted by itself.
    await sql`update assay.sessions set requests = 1000000 where session_id = 'session 2'`;
    await sql`
      insert into assay.erased_requests (organization_id, request_id, erased_at) values (${organizationId}, 'old', ${before})`;
    await sql`
      insert into assay.dead_letters (origin, reason, entry, created_at) values ('a', 'r', 'a', ${before})`;
    await sql.unsafe(`
      create function assay.refuse() returns trigger language plpgsql as $$ begin raise exception '%', tg_argv[0]; end $$;
      create trigger refuse before update on assay.sessions for each row
        when (old.session_id = 'session 2') execute function assay.refuse('no session');
      create trigger refuse before delete on assay.erased_requests execute function assay.refuse('no tombstone')`);
    const failure = await t.rejects(keepPartitionsOnce(keep));
    t.match(failure, { message: '2 steps failed, the first with: no session' });
    const counted = await sql<{ session_id: string; requests: number }[]>`
      select session_id, requests::float8 as requests from assay.sessions order by session_id`;
    t.same(
      counted.map(({ requests }) => requests),
      [1, 1, 1_000_000, 1, 1],
    );
    const left = await sql`select from assay.dead_letters`;
    t.equal(left.length, 0, 'what comes after is deleted');
    await sql`drop trigger refuse on assay.sessions`;
    await t.rejects(keepPartitionsOnce(keep), { message: 'no tombstone' });
    await sql`drop trigger refuse on assay.erased_requests`;
    await keepPartitionsOnce(keep);
    const [session] = await sql`
      select requests::int from assay.sessions where session_id = 'session 2'`;
    t.same(session, { requests: 1 }, 'a later round makes up for what failed');
  },
);

t.test('a keeper runs a round at its start, and stops at once, even during a round', async (t) => {
  const { sql, url, keep } = await setUp(t, { retentionDays: 14, weeks: 4 });
  const keeper = startPartitionKeeper(keep);
  await waitFor('the old week to go', async () => {
    const [row] = await sql`select to_regclass('assay.requests_w20240930') is null as gone`;
    return row?.gone;
  });
  await keeper.stop();
  t.equal((await weeksOf(t, sql)).length, 5);
  await sql`select assay.ensure_partitions('2024-08-05T00:00:00Z')`;
  const reader = await openReader(url, 'requests');
  const waiting = startPartitionKeeper(keep);
  await aDetachWaits(sql, 'requests_w20240805');
  const asked = performance.now();
  await waiting.stop();
  t.ok(performance.now() - asked < 5_000);
  await reader.end();
});
