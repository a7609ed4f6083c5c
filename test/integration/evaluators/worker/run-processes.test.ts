/** The processes that schedule runs: several at once, dying ones, and pages that fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { samplingPoint } from '#core/scoring/mod.ts';
import { connectPostgres, createListener, type TransactionSql } from '#platform/postgres/mod.ts';
import { Rests } from '#platform/process/rests.ts';
import { RunRequests } from '../../../../evaluators/worker/run-requests.ts';
import { scheduleNextPage, scheduleRuns } from '../../../../evaluators/worker/runs.ts';
import { waitFor } from '../../../support/assay.ts';
import type { Evaluator, World } from '../../../support/evaluation-queue.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { insertSlowRequests, SLOW_FILTER } from '../../../support/slow-requests.ts';
import {
  lockEvaluations,
  log,
  PAGE,
  type Run,
  requestIds,
  scheduleAll,
  scheduledOf,
  setUp,
  sum,
} from './runs-world.ts';

t.test(
  'a process that dies while scheduling a page leaves nothing of it, and the next process continues there',
  async (t) => {
    const { api, world, organizationId, make, start, get } = await setUp(t);
    const ids = await world.requests(organizationId, 2 * PAGE + 100);
    const evaluator = await make('length');
    const run = await start(evaluator);
    t.equal(await scheduleNextPage(world.sql, log), PAGE);
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const dying = connectPostgres({
        url: api.database.url,
        max: 1,
        applicationName: 'dying-walker',
        statementTimeoutMs: 30_000,
      });
      // The page is scheduled, and writing the cursor is blocked.
      const keeper = await openTransaction(world.sql, lockEvaluations);
      const walked = scheduleNextPage(dying, log).then(
        () => 'walked',
        () => 'died',
      );
      await waitFor('the page to be in progress', async () => {
        const rows = await world.sql`
        select from pg_stat_activity where application_name = 'dying-walker' and wait_event_type = 'Lock'`;
        return rows.length === 1;
      });
      await world.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dying-walker'`;
      t.equal(await walked, 'died');
      await keeper.end();
      await dying.end();
      t.match(await get(evaluator, run), { scheduled: PAGE, state: 'running' });
    }
    t.same(await scheduleAll(world), [PAGE, 100]);
    t.same(requestIds(await scheduledOf(world, evaluator)), [...ids].sort());
    t.equal((await get(evaluator, run)).scheduled, ids.length);
  },
);

t.test('several processes share the runs, and schedule no request twice', async (t) => {
  const { world, organizationId, make, start, get } = await setUp(t);
  await world.requests(organizationId, 3 * PAGE + 1);
  const evaluators = [await make('one'), await make('two'), await make('three')];
  const runs = await Promise.all(evaluators.map((evaluator) => start(evaluator)));
  const pages: number[] = [];
  const isOver = async () => {
    const [row] = await world.sql`
      select count(*)::int4 as open from assay.evaluation_runs where state = 'running'`;
    return row!.open === 0;
  };
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const sql = world.connect(1);
      while (!(await isOver())) pages.push((await scheduleNextPage(sql, log)) ?? 0);
    }),
  );
  t.equal(sum(pages), 3 * (3 * PAGE + 1));
  for (const [index, evaluator] of evaluators.entries()) {
    t.equal((await get(evaluator, runs[index]!)).scheduled, 3 * PAGE + 1);
  }
});

t.test('a run whose page fails delays no other run', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  await world.requests(organizationId, PAGE + 10);
  const [broken, sound] = [await make('broken'), await make('sound')];
  const run = await start(broken);
  // As if a later version had other filters, and this process were of an earlier version.
  await world.sql`
    update assay.evaluation_runs set filter = '{"moon": {"phase": {"equals": "full"}}}' where run_id = ${run.id}`;
  await start(sound);
  const walker = scheduleRuns({
    sql: world.sql,
    listener: createListener({ sql: world.sql, log }),
    log,
    onScheduled: () => {},
  });
  t.teardown(() => walker.stop());
  await waitFor(
    'the other run to be scheduled',
    async () => (await scheduledOf(world, sound)).length === PAGE + 10,
    25_000,
  );
  t.same(await scheduledOf(world, broken), []);
});

/** Filters that read bodies wait as long as this transaction is open. */
const lockBodies = (tx: TransactionSql) => tx`lock table assay.request_bodies in access exclusive mode`;
const SLOW = { request: { body: { contains: 'input' } } };
const waitingForLocks = async ({ sql }: Pick<World, 'sql'>) => [
  ...(await sql<{ xid: string | null }[]>`
    select backend_xid::text as xid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
];

t.test('slow pages of one organization keep the runs of others waiting for one of them only', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  await world.requests(organizationId, 1);
  for (let run = 0; run < 3; run += 1) await start(await make(`slow ${run}`), { filter: SLOW });
  const other = await world.organization();
  await world.requests(other, 1);
  for (let run = 0; run < 3; run += 1) {
    const { evaluatorId } = await world.evaluator(other);
    await world.sql`
      insert into assay.evaluation_runs (organization_id, evaluator_id, version, state, filter, until, created_at, updated_at)
      values (${other}, ${evaluatorId}, 1, 'running', '"all"', now(), now(), now())`;
  }
  const requests = new RunRequests(1_000);
  const keeper = await openTransaction(world.sql, lockBodies);
  let nowMs = 0;
  const rests = new Rests({ monotonic: () => nowMs });
  const next = () => scheduleNextPage(world.sql, log, rests, requests);
  const slow = next();
  await waitFor('the first page to be looked for', async () => (await waitingForLocks(world)).length === 1);
  nowMs += 15_000;
  t.equal(await slow, null, 'it took too long, and its organization rests for as long');
  t.same([await next(), await next(), await next()], [1, 1, 1]);
  t.equal(await next(), null, 'while no other has work, it has its turn');
  await keeper.end();
});

/** Of a log that is looked through in parts. Some twenty are enough, more where other programs keep Postgres from its work. */
const MOST_TURNS = 500;

t.test('a run whose filter takes too long for the whole log goes through it in parts', async (t) => {
  const { world, organizationId, make, start, get } = await setUp(t);
  const REQUESTS = 200;
  const marked = await insertSlowRequests(world.sql, organizationId, REQUESTS, [1, 100, REQUESTS - 1]);
  const [evaluator, sampling] = [await make('all'), await make('sample')];
  const run = await start(evaluator, { filter: SLOW_FILTER });
  const sample = await start(sampling, { filter: SLOW_FILTER, sample: { n: 2 } });
  const requests = new RunRequests(100);
  const next = () => scheduleNextPage(world.sql, log, new Rests(), requests);
  t.same([await next(), await next()], [null, null], 'all at once takes too long');
  const areRunning = async () =>
    (await world.sql`select from assay.evaluation_runs where state = 'running' limit 1`).length > 0;
  for (let turn = 0; turn < MOST_TURNS && (await areRunning()); turn += 1) await next();
  t.equal((await get(evaluator, run)).scheduled, 3);
  t.same(requestIds(await scheduledOf(world, evaluator)), [...marked].sort());
  t.equal((await get(sampling, sample)).scheduled, 2);
  const byPoint = [...marked].sort(
    (one, other) => samplingPoint(sampling.evaluatorId, one) - samplingPoint(sampling.evaluatorId, other),
  );
  t.same(requestIds(await scheduledOf(world, sampling)), byPoint.slice(0, 2).sort());
});

t.test(
  'a run shows how far it has looked, also where nothing passes its filter, and for its sample',
  async (t) => {
    const { world, organizationId, make, start, get } = await setUp(t);
    await insertSlowRequests(world.sql, organizationId, 100, [0]);
    const [evaluator, sampling] = [await make('all'), await make('sample')];
    const none = { request: { user_id: { like: `%${'a'.repeat(1_500)}c%` } } };
    const requests = new RunRequests(100);
    const next = () => scheduleNextPage(world.sql, log, new Rests(), requests);
    const looked = async (runOf: Evaluator, run: Run) => {
      const reached: string[] = [];
      for (let turn = 0; turn < MOST_TURNS; turn += 1) {
        await next();
        const now = await get(runOf, run);
        if (now.looking_for === null) return { reached, scheduled: now.scheduled };
        reached.push(`${now.looking_for} ${now.reached}`);
      }
      throw new Error('the run came to no end');
    };
    const run = await start(evaluator, { filter: none });
    t.match(run, { looking_for: 'requests', reached: null });
    const { reached, scheduled } = await looked(evaluator, run);
    t.equal(scheduled, 0);
    const places = [...new Set(reached)];
    t.ok(places.length > 2, 'it came further turn by turn');
    t.same(places.slice(1), places.slice(1).sort().reverse(), 'from the newest back');

    const sample = await start(sampling, { filter: SLOW_FILTER, sample: { n: 1 } });
    t.match(sample, { looking_for: 'sample', reached: null });
    const found = await looked(sampling, sample);
    const bySample = [...new Set(found.reached.filter((one) => one.startsWith('sample 2')))];
    t.ok(bySample.length > 1, 'so does the look for the sample');
    t.same(bySample, bySample.toSorted().reverse());
    t.ok(found.reached.includes('requests null'), 'the requests are looked for from the newest on');
    t.equal(found.scheduled, 1, 'and the newest is among them');
  },
);

t.test(
  'a run that looks for its sample has its place at once when another was paused in the middle',
  async (t) => {
    const { world, organizationId, make, start, get, tell } = await setUp(t);
    await insertSlowRequests(world.sql, organizationId, 100, [1]);
    const requests = new RunRequests(100, 1);
    const next = () => scheduleNextPage(world.sql, log, new Rests(), requests);
    const lookOn = async (...run: Parameters<typeof get>) => {
      for (let turn = 0; turn < MOST_TURNS && (await get(...run)).looking_for !== null; turn += 1)
        await next();
    };
    const [first, second] = [await make('first'), await make('second')];
    const body = { filter: SLOW_FILTER, sample: { n: 1 } };
    const paused = await start(first, body);
    while ((await get(first, paused)).reached === null) await next();
    const waiting = await start(second, body);
    await tell(first, paused, 'pause');
    await lookOn(second, waiting);
    t.match(await get(second, waiting), { looking_for: null, scheduled: 1 });
    await tell(first, paused, 'resume');
    await lookOn(first, paused);
    t.match(await get(first, paused), { looking_for: null, scheduled: 1 }, 'the other begins its look anew');
  },
);

t.test('a run that has to wait for its turn to look for a sample keeps no process busy', async (t) => {
  const { world, organizationId, make, start, get } = await setUp(t);
  await insertSlowRequests(world.sql, organizationId, 200, [1]);
  const evaluator = await make('sample');
  const run = await start(evaluator, { filter: SLOW_FILTER, sample: { n: 1 } });
  const requests = new RunRequests(100, 0);
  const next = () => scheduleNextPage(world.sql, log, new Rests(), requests);
  t.equal(await next(), null, 'all at once takes too long');
  t.equal(await next(), null, 'there is no room to look in slices: scheduling rests');
  t.match(await get(evaluator, run), { state: 'running', scheduled: 0 });
});

t.test('a run whose page takes long can be cancelled, and holds up no feed of changes', async (t) => {
  const { world, organizationId, make, start, get, tell } = await setUp(t);
  await world.requests(organizationId, 1);
  const evaluator = await make('slow');
  const run = await start(evaluator, { filter: SLOW });
  const keeper = await openTransaction(world.sql, lockBodies);
  const walking = scheduleNextPage(world.connect(1), log);
  await waitFor('the page to be looked for', async () => (await waitingForLocks(world)).length === 1);
  t.same(await waitingForLocks(world), [{ xid: null }], 'sinks wait for transactions with a number');
  t.match(await tell(evaluator, run, 'cancel'), { state: 'cancelled' });
  await keeper.end();
  t.equal(await walking, 0);
  t.match(await get(evaluator, run), { state: 'cancelled', scheduled: 0 });
});

t.test('scheduleRuns schedules by itself, calls onScheduled, and stops', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  await world.requests(organizationId, PAGE + 10);
  let told = 0;
  const walker = scheduleRuns({
    sql: world.sql,
    listener: createListener({ sql: world.sql, log }),
    log,
    onScheduled: () => {
      told += 1;
    },
  });
  const evaluator = await make('length');
  await start(evaluator);
  await waitFor(
    'the run to be scheduled',
    async () => (await scheduledOf(world, evaluator)).length === PAGE + 10,
    25_000,
  );
  await walker.stop();
  t.equal(told, 2);
});

t.test('a run that is made or resumed while evaluators are idle starts at once', async (t) => {
  const { world, organizationId, make, start, tell } = await setUp(t);
  await world.requests(organizationId, 3);
  const listener = createListener({ sql: world.sql, log });
  const walker = scheduleRuns({ sql: world.sql, listener, log, onScheduled: () => {} });
  t.teardown(() => walker.stop());
  const [paused, evaluator] = [await make('paused'), await make('made')];
  const run = await start(paused);
  await tell(paused, run, 'pause');
  await waitFor('the listener to hear', () => listener.isHearing());
  // It has looked since, and sleeps for half a minute.
  await sleep(1_500);
  await start(evaluator);
  await waitFor('the run', async () => (await scheduledOf(world, evaluator)).length === 3, 25_000);
  await sleep(1_500);
  await world.requests(organizationId, 1);
  await world.sql`
    update assay.evaluation_runs set state = 'paused', cursor_created_at = null, cursor_request_id = null, until = now()
     where run_id = ${run.id}`;
  await tell(paused, run, 'resume');
  await waitFor('the resumed run', async () => (await scheduledOf(world, paused)).length === 4, 25_000);
});
