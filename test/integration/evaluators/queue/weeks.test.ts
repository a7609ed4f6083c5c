/** Claims on a log of many weeks. */
import t from 'tap';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { claim, type Job } from '../../../../evaluators/queue/mod.ts';
import { startWorld, type World } from '../../../support/evaluation-queue.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { ALL } from './claims.ts';

const WEEKS = 40;
const WEEK_MS = 7 * 86_400_000;

/** Schedules the evaluation of a request in each of some weeks, of many that were analyzed. */
async function startWeeks(t: Parameters<typeof startWorld>[0], evaluated: number): Promise<World> {
  const world = await startWorld(t);
  const { sql } = world;
  const evaluator = await world.evaluator(await world.organization());
  const monday = Math.floor(Date.now() / WEEK_MS) * WEEK_MS - 3 * 86_400_000;
  for (let week = 0; week < WEEKS; week += 1) {
    const begins = new Date(monday - week * WEEK_MS);
    await sql`select assay.ensure_partitions(${begins})`;
    await sql`
      with made as materialized (
        select ${begins}::timestamptz + n * interval '1 second' as at, ${week} || '-' || n as id from generate_series(1, 500) n
      ), bodies as (
        insert into assay.request_bodies (organization_id, created_at, request_id, request_text, response_text)
        select ${evaluator.organizationId}, at, id, '{}', '{}' from made
      )
      insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, is_stream, truncated)
      select ${evaluator.organizationId}, at, id, 'gateway', '/', 'OPENAI', 'gpt-4o-mini', 200, false, false from made`;
  }
  await world.schedule(
    evaluator,
    Array.from({ length: evaluated }, (_, week) => `${week}-7`),
  );
  await sql`vacuum (analyze)`;
  return world;
}

const weeksOf = (names: readonly { relname: string }[]) =>
  new Set(names.map(({ relname }) => relname.slice(-8))).size;

/** Planning for one week takes some milliseconds, for 150 of them longer than most evaluations. */
t.test('a claim is planned for the weeks of its requests, however many there are', async (t) => {
  const { sql } = await startWeeks(t, 1);
  let weeks = 0;
  const begin = (work: (tx: TransactionSql) => Promise<unknown>) =>
    sql.begin(async (tx) => {
      const done = await work(tx);
      weeks = weeksOf(
        await tx<{ relname: string }[]>`
          select relname from pg_locks join pg_class on pg_class.oid = relation
           where pid = pg_backend_pid() and relispartition and relkind = 'r' and relname ~ '[0-9]{8}$'`,
      );
      return done;
    });
  const watched = new Proxy(sql, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  }) as Sql;
  const { jobs } = await claim(watched, ALL);
  t.equal(jobs.length, 1);
  t.not(jobs[0]!.request, null);
  t.equal(weeks, 1);
});

t.test('a claim looks up the records of its evaluations, whatever the statistics say', async (t) => {
  const world = await startWeeks(t, 10);
  let jobs: Job[] = [];
  const { scanned } = await rowsRead(world.sql, '^request(s|_bodies)_w', async (sql) => {
    ({ jobs } = await claim(sql, ALL));
  });
  t.equal(jobs.filter(({ request }) => request !== null).length, 10);
  t.equal(scanned, 0, 'it reads no week as a whole');
});
