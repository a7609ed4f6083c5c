/** POST /v1/request/delete: everything that passes a filter, page by page, whichever process does it and wherever it dies. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { noteActor, withActor } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { Rests } from '#platform/process/rests.ts';
import { TimeSlices } from '#platform/records/mod.ts';
import { createErasureService } from '../../../../api/erasure/mod.ts';
import { eraseNextPage, startErasing } from '../../../../api/erasure/work.ts';
import { createRequestService } from '../../../../api/requests/mod.ts';
import { startTestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { connectAsApi, openTransaction } from '../../../support/postgres.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';
import { insertSlowRequests, SLOW_FILTER } from '../../../support/slow-requests.ts';
import { createWorld, silentLog } from '../../../support/world.ts';

type Job = {
  id: string;
  state: string;
  deleted: number;
  filter: unknown;
  reached: string | null;
  finished_at: string | null;
  error: string | null;
};

const api = await startTestApi(t);
const { sql } = api.database;
const { organizationId } = api.own;
/** Of one transaction of a job. */
const PAGE = 100;

const byUser = (user: string) => ({ request: { user_id: { equals: user } } });
const seed = (
  user: string,
  count: number,
  more: Partial<SeedRequest> = {},
  owner = organizationId,
  database = sql,
) =>
  insertRequests(
    database,
    owner,
    Array.from({ length: count }, (_, index) => ({
      user_id: user,
      created_at: new Date(Date.now() - 60_000 - index),
      ...more,
    })),
  );
const left = async (user: string) => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from assay.requests where user_id = ${user}`;
  return row!.count;
};
const remove = (body: object, key = api.own.key) => api.call('/v1/request/delete', { body, key });
const jobOf = async (id: string) => (await api.call(`/v1/request/delete/${id}`)).body.data as Job;
async function ended(id: string): Promise<Job> {
  await waitFor('the deletion to end', async () => (await jobOf(id)).state !== 'running');
  return jobOf(id);
}

t.test('a deletion erases what passes its filter and nothing else, over several pages', async (t) => {
  const count = 2 * PAGE + 5;
  await seed('gone', count, { scores: { a: 1 } });
  await seed('stays', 3);
  await seed('gone', 2, {}, api.other.organizationId);
  const [judge] = await seed('gone', 1, { source: 'evaluator' });
  const counted = await remove({ filter: byUser('gone'), dryRun: true });
  t.same(counted.body.data, { matching: count }, 'a dry run counts');
  t.equal(await left('gone'), count + 3, 'and deletes nothing');
  const started = (await remove({ filter: byUser('gone') })).body.data as Job;
  t.same(started.filter, byUser('gone'));
  const job = await ended(started.id);
  t.match(job, { state: 'completed', deleted: count, error: null });
  t.equal(job.filter, null, 'its filter, which names a person, is forgotten');
  t.type(job.finished_at, 'string');
  t.equal(await left('stays'), 3);
  t.equal(await left('gone'), 3, "another organization's requests and judges' calls are not the filter's");
  const [row] = await sql`select 1 from assay.requests where request_id = ${judge!.request_id}`;
  t.ok(row);
  const [tombs] = await sql`select count(*)::int as count from assay.erased_requests`;
  t.equal(tombs!.count, count);
  t.same((await sql`select request_id from assay.request_scores where key = 'a'`).length, 0);
});

t.test('a request that begins after the call is not deleted', async (t) => {
  await seed('late', 1, { created_at: new Date(Date.now() + 60_000) });
  await seed('late', 1);
  const job = await ended(((await remove({ filter: byUser('late') })).body.data as Job).id);
  t.equal(job.deleted, 1);
  t.equal(await left('late'), 1);
});

t.test('a filter without a condition has to be confirmed, in whichever form it is written', async (t) => {
  const leaf = byUser('nobody');
  const or = (left: unknown, right: unknown) => ({ left, operator: 'or', right });
  const and = (left: unknown, right: unknown) => ({ left, operator: 'and', right });
  for (const filter of ['all', {}, and('all', {}), or(leaf, 'all'), or({}, leaf), and(or(leaf, {}), 'all')]) {
    const refused = await remove({ filter });
    t.equal(refused.status, 400, JSON.stringify(filter));
    t.match(refused.body.error, /"confirm": "all"/);
    t.equal((await remove({ filter, dryRun: true })).status, 200, 'a dry run needs no confirmation');
  }
  for (const filter of [leaf, and('all', leaf), or(leaf, leaf)]) {
    const refused = await remove({ filter, confirm: 'all' });
    t.equal(refused.status, 400, JSON.stringify(filter));
    t.match(refused.body.error, /^confirm belongs to a filter without a condition/);
  }
  const world = await createWorld(t);
  const apart = await startTestApi(t, { database: world.database });
  await insertRequests(world.sql, apart.own.organizationId, [{}, {}]);
  const all = await apart.call('/v1/request/delete', { body: { filter: 'all', confirm: 'all' } });
  await waitFor('everything to be deleted', async () => {
    const [row] = await world.sql`select count(*)::int as count from assay.requests`;
    return row!.count === 0;
  });
  t.equal(all.status, 200);
});

t.test('bad bodies are refused with the place and the rule', async (t) => {
  for (const [body, message] of [
    [{}, /filter is required|filter/],
    [{ filter: 'some' }, /filter must be "all", a leaf or a branch/],
    [{ filter: byUser('x'), dryRun: 'yes' }, /dryRun/],
    [{ filter: 'all', confirm: true }, /confirm/],
    [{ filter: 'all', confirm: 'yes' }, /confirm/],
    [{ filter: byUser('x'), limit: 5 }, /limit/],
  ] as const) {
    const answer = await remove(body);
    t.equal(answer.status, 400, JSON.stringify(body));
    t.match(answer.body.error, message);
  }
});

t.test("another organization's deletion is unknown, and reading one needs no scope write", async (t) => {
  const { id } = (await remove({ filter: byUser('nobody') })).body.data as Job;
  for (const one of [id, randomUUID(), 'x']) {
    const options = { key: api.other.key };
    t.equal((await api.call(`/v1/request/delete/${one}`, options)).status, 404);
    t.equal((await api.call(`/v1/request/delete/${one}/cancel`, { ...options, method: 'POST' })).status, 404);
  }
  t.notOk(
    ((await api.call('/v1/request/delete', { key: api.other.key })).body.data as Job[]).some(
      (one) => one.id === id,
    ),
  );
  const reader = await api.own.keyWith(['read']);
  t.equal((await api.call(`/v1/request/delete/${id}`, { key: reader })).status, 200);
  const listed = (await api.call('/v1/request/delete', { key: reader })).body.data as Job[];
  t.equal(listed[0]!.id, id, 'newest first');
  t.equal((await remove({ filter: byUser('nobody'), dryRun: true }, reader)).status, 403);
});

/** A service whose jobs nobody works on but the test, in a database of its own. */
async function still(test: Test) {
  const world = await createWorld(test);
  const own = await world.organization();
  const pool = connectAsApi(world.database.url, { max: 2 });
  test.teardown(() => pool.end());
  const requests = createRequestService({ sql: pool, clock: systemClock });
  const announce = async () => {};
  const service = createErasureService({
    sql: pool,
    clock: systemClock,
    requests,
    onStarted: () => {},
    announce,
  });
  const key = { organizationId: own.organizationId, keyId: randomUUID() };
  const seedOwn = (count: number) =>
    insertRequests(
      world.sql,
      key.organizationId,
      Array.from({ length: count }, (_, index) => ({
        user_id: 'u',
        created_at: new Date(Date.now() - 60_000 - index),
      })),
    );
  const worker = () => ({ sql: world.connect({ max: 1 }), log: silentLog, announce });
  const count = async () => {
    const [row] = await world.sql<{ count: number }[]>`select count(*)::int from assay.requests`;
    return row!.count;
  };
  const start = async () => (await service.start(key, { filter: byUser('u') })) as Job;
  return { ...world, service, key, seedOwn, worker, count, start };
}

t.test('two processes that work on one job erase each page once, and count it once', async (t) => {
  const { service, key, seedOwn, worker, count, start } = await still(t);
  await seedOwn(3 * PAGE + 1);
  const { id } = await start();
  const workers = [worker(), worker(), worker()];
  const work = async (one: ReturnType<typeof worker>) => {
    while ((await eraseNextPage(one)) !== null);
  };
  await Promise.all(workers.map(work));
  t.match(await service.get(key.organizationId, id), { state: 'completed', deleted: 3 * PAGE + 1 });
  t.equal(await count(), 0);
});

t.test(
  'a process that dies within a page leaves neither its erasure nor its note, and another repeats it',
  async (t) => {
    const { sql, database, service, key, seedOwn, worker, count, start } = await still(t);
    await seedOwn(PAGE + 1);
    const { id } = await start();
    // The page stops at a row that another transaction holds, and its connection is ended there.
    const [row] = await sql<
      { request_id: string }[]
    >`select request_id from assay.requests order by created_at desc limit 1`;
    const holding = await openTransaction(
      sql,
      (tx) => tx`
    select from assay.requests where request_id = ${row!.request_id} for update`,
    );
    const dying = eraseNextPage(worker()).catch(() => 'died');
    const killed = () => sql<{ killed: boolean }[]>`
    select pg_terminate_backend(pid) as killed from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%erase_requests%'`;
    await waitFor('the process to be within its page', async () => (await killed()).length > 0);
    await holding.end();
    await dying;
    t.equal(await count(), PAGE + 1, 'nothing of the page is erased');
    t.match(await service.get(key.organizationId, id), { state: 'running', deleted: 0, reached: null });
    t.same((await sql`select 1 from assay.erased_requests`).length, 0);
    const erasing = startErasing(worker());
    t.teardown(() => erasing.stop());
    erasing.wake();
    await waitFor(
      'the job to end',
      async () => (await service.get(key.organizationId, id)).state !== 'running',
    );
    t.match(await service.get(key.organizationId, id), { state: 'completed', deleted: PAGE + 1 });
    t.ok(database.url);
  },
);

t.test('a cancelled job stops after the page under way, and what is deleted stays deleted', async (t) => {
  const { service, key, seedOwn, worker, count, start } = await still(t);
  await seedOwn(2 * PAGE);
  const { id } = await start();
  const one = worker();
  t.equal(await eraseNextPage(one), PAGE);
  const cancelled = await service.cancel(key.organizationId, id);
  t.match(cancelled, { state: 'cancelled', deleted: PAGE, filter: null });
  t.equal(await eraseNextPage(one), null);
  t.equal(await count(), PAGE);
  t.same(await service.cancel(key.organizationId, id), cancelled, 'a second time changes nothing');
  const again = await start();
  while ((await eraseNextPage(one)) !== null);
  t.match(await service.get(key.organizationId, again.id), { state: 'completed', deleted: PAGE });
  await t.rejects(service.cancel(key.organizationId, again.id), {
    code: 'conflict',
    message: /is completed/,
  });
});

t.test('a job whose filter always fails ends as failed, and keeps no other waiting', async (t) => {
  const { sql, service, key, seedOwn, worker, start } = await still(t);
  await seedOwn(1);
  const bad = await start();
  await sql`update assay.erasure_jobs set filter = '{"request": {"gone_field": {"equals": 1}}}' where job_id = ${bad.id}`;
  const good = await start();
  const one = worker();
  for (let round = 0; round < 8; round += 1) await eraseNextPage(one);
  t.match(await service.get(key.organizationId, bad.id), {
    state: 'failed',
    deleted: 0,
    error: /narrower/,
    filter: null,
  });
  t.match(await service.get(key.organizationId, good.id), { state: 'completed', deleted: 1 });
});

t.test('a deletion whose filter takes too long for the whole log goes through it in parts', async (t) => {
  const { sql, service, key, worker } = await still(t);
  const REQUESTS = 200;
  await insertSlowRequests(sql, key.organizationId, REQUESTS, [1, 100, REQUESTS - 1]);
  const { id } = (await service.start(key, { filter: SLOW_FILTER })) as Job;
  const slow = { ...worker(), findMs: 100 };
  const slices = new TimeSlices(slow.findMs);
  const next = () => eraseNextPage(slow, new Rests(), slices);
  t.equal(await next(), null, 'all at once takes too long');
  const state = async () => (await service.get(key.organizationId, id)).state;
  while ((await state()) === 'running') await next();
  t.match(await service.get(key.organizationId, id), { state: 'completed', deleted: 3, error: null });
  const [left] = await sql`select count(*)::int4 as count from assay.requests`;
  t.equal(left!.count, REQUESTS - 3);
});

t.test('slow deletions of one organization keep those of others waiting for one page only', async (t) => {
  const world = await still(t);
  const { sql, service, key, seedOwn } = world;
  await seedOwn(1);
  const slow = { request: { body: { contains: 'x' } } };
  for (let job = 0; job < 3; job += 1) await service.start(key, { filter: slow });
  const other = { ...key, organizationId: (await world.organization()).organizationId };
  await seed('u', 2 * PAGE, {}, other.organizationId, sql);
  const { id } = (await service.start(other, { filter: byUser('u') })) as Job;
  const worker = {
    ...world.worker(),
    findMs: 1_000,
  };
  const keeper = await openTransaction(
    sql,
    (tx) => tx`lock table assay.fresh_bodies in access exclusive mode`,
  );
  let nowMs = 0;
  const rests = new Rests({ monotonic: () => nowMs });
  const next = () => eraseNextPage(worker, rests);
  const first = next();
  await waitFor('the first page to be looked for', async () => {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length === 1;
  });
  nowMs += 60_000;
  t.equal(await first, null, 'it took too long, and its organization rests for as long');
  await keeper.end();
  t.same([await next(), await next(), await next()], [PAGE, PAGE, 0]);
  t.match(await service.get(other.organizationId, id), { state: 'completed' });
});

t.test('an organization can have ten running deletions, whoever starts them at once', async (t) => {
  const { service, key } = await still(t);
  const results = await Promise.allSettled(
    Array.from({ length: 14 }, () => service.start(key, { filter: byUser('u') })),
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 10);
  for (const result of results) {
    if (result.status === 'rejected')
      t.match(result.reason, { code: 'conflict', message: /at most 10 running/ });
  }
});

t.test('the audit log names the key that began a deletion, whichever call the work is done in', async (t) => {
  const { sql, key, seedOwn, worker, start } = await still(t);
  await seedOwn(2);
  await start();
  const other = randomUUID();
  const erased = await withActor(() => {
    noteActor(other);
    return eraseNextPage(worker());
  });
  t.equal(erased, 2);
  const entries = await sql`
    select actor_kind, actor_id, changes from assay.audit_log where action = 'erase'`;
  t.same([...entries], [{ actor_kind: 'api_key', actor_id: key.keyId, changes: { requests: 2 } }]);
});

t.test(
  'a process without jobs begins one as soon as it is woken, and tries a page that failed again',
  async (t) => {
    const { sql, service, key, seedOwn, worker, start } = await still(t);
    await seedOwn(1);
    const erasing = startErasing(worker());
    t.teardown(() => erasing.stop());
    await sleep(500);
    const good = await start();
    erasing.wake();
    const stateOf = async (id: string) => (await service.get(key.organizationId, id)).state;
    await waitFor('the job to end', async () => (await stateOf(good.id)) === 'completed', 10_000);
    const bad = await start();
    await sql`update assay.erasure_jobs set filter = '{"request": {"gone_field": {"equals": 1}}}' where job_id = ${bad.id}`;
    erasing.wake();
    await waitFor('the job to fail', async () => (await stateOf(bad.id)) === 'failed', 20_000);
  },
);
