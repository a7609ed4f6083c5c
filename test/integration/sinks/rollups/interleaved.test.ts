/** Recomputation beside writers, other processes, and retention. */
import t from 'tap';
import { connectPostgres, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { pruneRollups } from '../../../../sinks/rollups/prune.ts';
import { recompute } from '../../../../sinks/rollups/recompute.ts';
import { TASKS, type Task } from '../../../../sinks/rollups/tasks.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { differencesOf, expectedCells, storedCells } from '../../../support/rollup-oracle.ts';
import { applyAllChanges, noteStored, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { databaseFor } from '../../../support/world.ts';

const { sql, url } = await databaseFor(t);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** In a day that is over, and too old for fine buckets. */
const dayMs = Math.floor(Date.now() / DAY_MS - 4) * DAY_MS;

const [owner] = await sql<{ id: string }[]>`
  insert into assay.organizations (name) values ('interleaved') returning organization_id as id`;
const organizationId = owner!.id;

async function insertAt(ms: number, more: object = {}): Promise<string> {
  const [row] = await insertRequests(sql, organizationId, [{ created_at: new Date(ms), ...more }]);
  await sql.begin((tx) =>
    noteStored(tx, [{ organizationId, createdAt: row!.created_at, requestId: row!.request_id }]),
  );
  return row!.request_id;
}

const taskOf = (family: string, grainSeconds: number, partSeconds: number | null): Task =>
  TASKS.find(
    (one) => one.family === family && one.grainSeconds === grainSeconds && one.partSeconds === partSeconds,
  )!;
const HALF_HOURS = taskOf('totals', 1_800, null);
const THREE_HOURS = taskOf('totals', 10_800, 1_800);
const DAYS = taskOf('totals', 86_400, 10_800);
const run = (task: Task, on: Sql = sql, onDue: () => void = () => {}) =>
  recompute({ sql: on, task, limit: 100, isPatient: false, organizationId: null, onDue });

const stale = (grainSeconds: number) => sql<{ mark: string }[]>`
  select mark from assay.rollup_stale where family = 'totals' and grain_seconds = ${grainSeconds}`;
const requests = async (grainSeconds: number) => {
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum(requests), 0)::integer as count from assay.rollup_totals
     where grain_seconds = ${grainSeconds} and level = 'path'`;
  return row!.count;
};

await registerRollups(sql);
await applyAllChanges(sql);

const weekOf = (ms: number) =>
  new Date(ms - ((ms / DAY_MS + 3) % 7) * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');

t.test(
  'a bucket whose request is marked while it is recomputed stays stale, and the next recomputation has it',
  async (t) => {
    await insertAt(dayMs);
    await applyAllChanges(sql);
    // The recomputation has read the mark, and computes; then its removal waits for the sink, which marks the bucket again.
    const holder = await openTransaction(sql, (tx) => tx`lock table assay.rollup_totals in exclusive mode`);
    const begun = Promise.withResolvers<void>();
    const first = run(HALF_HOURS, sql, begun.resolve);
    await begun.promise;
    await insertAt(dayMs + 1);
    const sink = await openTransaction(
      sql,
      (tx) => tx`update assay.rollup_stale set mark = nextval('assay.rollup_marks'), marked_at = now()
                where family = 'totals' and grain_seconds = 1800`,
    );
    await holder.end();
    await sink.end();
    await first;
    t.equal((await stale(1_800)).length, 1, 'the later mark is there');
    await applyAllChanges(sql);
    await run(HALF_HOURS);
    t.equal((await stale(1_800)).length, 0);
    t.equal(await requests(1_800), 2);
  },
);

t.test('a bucket is recomputed only when none of its parts is stale', async (t) => {
  t.equal((await stale(86_400)).length, 1);
  await insertAt(dayMs + 2);
  await applyAllChanges(sql);
  t.same((await run(THREE_HOURS))!.buckets, []);
  t.same((await run(DAYS))!.buckets, []);
  t.equal((await stale(86_400)).length, 1);
  await run(HALF_HOURS);
  t.same((await run(DAYS))!.buckets, [], 'its three hours are next');
  t.equal((await run(THREE_HOURS))!.buckets.length, 1);
  t.equal((await run(DAYS))!.buckets.length, 1);
  t.equal((await stale(86_400)).length, 0);
  t.equal(await requests(86_400), 3);
});

t.test('while one process recomputes, another does not', async (t) => {
  await insertAt(dayMs + 3);
  await applyAllChanges(sql);
  const holder = await openTransaction(sql, (tx) => tx`lock table assay.rollup_totals in exclusive mode`);
  const begun = Promise.withResolvers<void>();
  const first = run(HALF_HOURS, sql, begun.resolve);
  await begun.promise;
  t.equal(await run(HALF_HOURS), null);
  await holder.end();
  t.equal((await first)!.buckets.length, 1);
  t.equal(await requests(1_800), 4);
});

t.test('a process that is killed while it recomputes leaves the old cells and the marks', async (t) => {
  await run(THREE_HOURS);
  await run(DAYS);
  await insertAt(dayMs + 4);
  await applyAllChanges(sql);
  const other = connectPostgres({ url, max: 1, applicationName: 'killed', statementTimeoutMs: 10_000 });
  const holder = await openTransaction(sql, (tx) => tx`lock table assay.rollup_totals in share mode`);
  const begun = Promise.withResolvers<void>();
  const killed = t.rejects(run(HALF_HOURS, other, begun.resolve));
  await begun.promise;
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed' and pid <> pg_backend_pid()`;
  await killed;
  await holder.end();
  await other.end({ timeout: 0 });
  t.equal(await requests(1_800), 4);
  t.equal((await stale(1_800)).length, 1);
  await run(HALF_HOURS);
  t.equal(await requests(1_800), 5);
});

t.test(
  'a week that retention drops keeps its totals, is never recomputed, and loses users and properties',
  async (t) => {
    const oldMs = dayMs - 28 * DAY_MS;
    await insertAt(oldMs, { user_id: 'ann', properties: { plan: 'pro' }, scores: { helpful: 1 } });
    await applyAllChanges(sql);
    await recomputeAll(sql);
    const before = await requests(86_400);
    const ofUsers = () =>
      sql`select 1 from assay.rollup_values where begins_at < ${new Date(oldMs + 7 * DAY_MS)}`;
    t.ok((await ofUsers()).length > 0);
    // Changed just before it is dropped: too late to be recomputed.
    await insertAt(oldMs + 1);
    await applyAllChanges(sql);
    for (const parent of ['request_scores', 'requests', 'request_bodies', 'request_properties']) {
      await sql.unsafe(
        `alter table assay.${parent} detach partition assay.${parent}_w${weekOf(oldMs)} concurrently`,
      );
      t.same((await run(HALF_HOURS))!.buckets, [], `not after ${parent} is detached`);
    }
    await pruneRollups(sql);
    t.equal((await stale(1_800)).length, 0, 'its marks are gone');
    t.equal((await ofUsers()).length, 0);
    await recomputeAll(sql);
    t.equal(await requests(86_400), before);
    const [scores] =
      await sql`select count(*)::int as count from assay.rollup_scores where begins_at < ${new Date(oldMs + DAY_MS)}`;
    t.ok(scores!.count > 0);
  },
);

t.test('a week that begins to be dropped while its buckets are recomputed keeps its sums', async (t) => {
  const oldMs = dayMs - 14 * DAY_MS;
  const requestId = await insertAt(oldMs);
  await applyAllChanges(sql);
  await recomputeAll(sql);
  const before = await requests(1_800);
  await sql`delete from assay.requests where request_id = ${requestId}`;
  await sql.begin((tx) => noteStored(tx, [{ organizationId, createdAt: new Date(oldMs), requestId }]));
  await applyAllChanges(sql);
  const holder = await openTransaction(sql, (tx) => tx`lock table assay.rollup_totals in exclusive mode`);
  const begun = Promise.withResolvers<void>();
  const recomputing = run(HALF_HOURS, sql, begun.resolve);
  await begun.promise;
  // As "detach … concurrently" does first, which waits for this transaction afterwards.
  await sql.unsafe(
    `update pg_inherits set inhdetachpending = true where inhrelid = 'assay.requests_w${weekOf(oldMs)}'::regclass`,
  );
  await holder.end();
  t.same((await recomputing)!.buckets, []);
  t.equal(await requests(1_800), before);
  await sql.unsafe(
    `update pg_inherits set inhdetachpending = false where inhrelid = 'assay.requests_w${weekOf(oldMs)}'::regclass`,
  );
  await recomputeAll(sql);
  t.equal(await requests(1_800), before - 1);
});

t.test('of a property with very many values the commonest have rows, and the others one', async (t) => {
  const rareMs = dayMs + 12 * HOUR_MS;
  const at = (index: number) => new Date(rareMs + (index % 2 === 0 ? 0 : 1) * HOUR_MS);
  const fill = async (tx: TransactionSql) => {
    for (const half of [0, 1]) {
      await tx`
        insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, is_stream,
                                    truncated, properties_folded)
        select ${organizationId}, ${at(half)}, 'rare-' || ${half}::text || '-' || n, 'gateway', '/', 'P', 'm', 200, false, false,
               jsonb_build_object('ticket', 'ticket-' || case when n <= 20 then 'common' else (n + ${half * 500})::text end)
          from generate_series(1, 900) as n`;
    }
  };
  await sql.begin(fill);
  await sql.begin((tx) =>
    noteStored(
      tx,
      [0, 1].map((half) => ({ organizationId, createdAt: at(half), requestId: `rare-${half}-1` })),
    ),
  );
  await applyAllChanges(sql);
  await recomputeAll(sql);
  const [day] = await sql`
    select count(*) filter (where not is_other)::integer as named, sum(requests) filter (where is_other)::integer as others,
           sum(requests) filter (where value = 'ticket-common')::integer as common, sum(requests)::integer as "all"
      from assay.rollup_values where grain_seconds = 86400 and dimension = 'property' and name = 'ticket'`;
  // 900 - 20 + 500 rare values, and the common one.
  t.same(day, { named: 1_000, others: 1_800 - 40 - 999 - 380, common: 40, all: 1_800 });
});

t.test('after all of this, the roll-ups equal their rows', async (t) => {
  const nowMs = Date.now();
  // What was cut, and the half hours in which it was not, are compared above.
  const compared = (cells: Map<string, string>) =>
    new Map([...cells].filter(([key]) => !key.includes(' ticket ') && !isDropped(key)));
  t.same(
    differencesOf(compared(await expectedCells(sql, nowMs)), compared(await storedCells(sql, nowMs))),
    [],
  );
});

/** Whether a cell is of the dropped week, whose sums stay. */
function isDropped(key: string): boolean {
  const begins = Number(/ (\d{13}) /.exec(key)?.[1]);
  return begins < dayMs - 20 * DAY_MS;
}
