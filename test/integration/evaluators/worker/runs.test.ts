/** Runs over history: created through the API, scheduled page by page, evaluated after incoming requests. */
import t, { type Test } from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type TransactionSql } from '#platform/postgres/mod.ts';
import { settle, skipped } from '../../../../evaluators/queue/mod.ts';
import { scheduleNextPage, scheduleRuns } from '../../../../evaluators/worker/runs.ts';
import { waitFor } from '../../../support/assay.ts';
import { type Evaluator, type World, worldIn } from '../../../support/evaluation-queue.ts';
import { PYTHON, RANGE, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { openTransaction } from '../../../support/postgres.ts';

t.setTimeout(120_000);

const log = createLogger({ role: 'test', level: 'silent' });

const lockEvaluations = (tx: TransactionSql) => tx`lock table assay.evaluations in share mode`;
/** Requests scheduled in one transaction, and unfinished evaluations of a run, at most. */
const PAGE = 500;
const MAX_WAITING = 2_000;
const OK = { response: { status: { equals: 200 } } };

type Run = {
  id: string;
  state: string;
  scheduled: number;
  pending: number;
  completed: number;
  cancelled: number;
};
type DryRun = { matching: number; already_scored: number };

async function setUp(t: Test) {
  const api = await startEvaluatorApi(t);
  const world = await worldIn(t, api.database);
  const organizationId = api.own.organizationId;
  const make = async (name: string, body: object = PYTHON): Promise<Evaluator> => {
    const { id } = await api.make('/v1/evaluator', { name, ...body });
    return { organizationId, evaluatorId: id, version: 1, scoringType: 'PYTHON', scoreKey: name };
  };
  const runPath = ({ evaluatorId }: Evaluator) => `/v1/evaluator/${evaluatorId}/run`;
  return {
    api,
    world,
    organizationId,
    make,
    start: (evaluator: Evaluator, body: object = {}) =>
      api.make<Run>(runPath(evaluator), { filter: 'all', ...body }),
    dryRun: (evaluator: Evaluator, body: object = {}) =>
      api.make<DryRun>(runPath(evaluator), { filter: 'all', dryRun: true, ...body }),
    get: (evaluator: Evaluator, run: Run) => api.make<Run>(`${runPath(evaluator)}/${run.id}`),
    tell: (evaluator: Evaluator, run: Run, what: 'pause' | 'resume' | 'cancel') =>
      api.make<Run>(`${runPath(evaluator)}/${run.id}/${what}`, {}),
  };
}

/** Schedules pages until no run can continue. Returns the number scheduled of each page. */
async function scheduleAll({ sql }: World): Promise<number[]> {
  const pages: number[] = [];
  for (;;) {
    const scheduled = await scheduleNextPage(sql, log);
    if (scheduled === null) return pages;
    pages.push(scheduled);
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

type Scheduled = {
  request_id: string;
  state: string;
  priority: number;
  version: number;
  run_id: string | null;
};

const scheduledOf = async (world: World, { evaluatorId }: Evaluator) =>
  await world.sql<Scheduled[]>`
    select request_id, state, priority, version, run_id from assay.evaluations
     where evaluator_id = ${evaluatorId} order by request_id`;

const requestIds = (rows: readonly Scheduled[]) => rows.map((row) => row.request_id);

t.test(
  'a run schedules each request that matches its filter once, and no call of an evaluator',
  async (t) => {
    const { world, organizationId, make, start, get } = await setUp(t);
    const ids = await world.requests(organizationId, PAGE + 200);
    await world.requests(await world.organization(), 10);
    await world.sql`update assay.requests set source = 'evaluator' where request_id = any(${ids.slice(0, 30)})`;
    await world.sql`update assay.requests set status = 500 where request_id = any(${ids.slice(20, 50)})`;
    const evaluator = await make('length');
    const run = await start(evaluator, { filter: OK });
    t.same(await scheduleAll(world), [PAGE, 150]);
    const rows = await scheduledOf(world, evaluator);
    t.same(requestIds(rows), ids.slice(50).sort());
    t.ok(rows.every((row) => row.state === 'pending' && row.run_id === run.id && row.version === 1));
    t.match(await get(evaluator, run), { scheduled: PAGE + 150, pending: PAGE + 150, state: 'running' });
    t.same(await scheduleAll(world), [], 'a finished run schedules nothing more');
  },
);

t.test('a dry run counts exactly what the run then schedules', async (t) => {
  const { world, organizationId, make, start, dryRun, get } = await setUp(t);
  const ids = await world.requests(organizationId, 60);
  await world.sql`update assay.requests set source = 'evaluator' where request_id = any(${ids.slice(0, 7)})`;
  await world.sql`update assay.requests set status = 500 where request_id = any(${ids.slice(40)})`;
  const filter = OK;
  const evaluator = await make('length');
  // Some requests, matching and not, were scored when they came in.
  await world.schedule(evaluator, ids.slice(35, 45), { state: 'completed' });
  const expected = await dryRun(evaluator, { filter });
  t.match(expected, { matching: 33, already_scored: 5 });
  const run = await start(evaluator, { filter });
  await scheduleAll(world);
  t.equal((await get(evaluator, run)).scheduled, expected.matching - expected.already_scored);
  t.match(await dryRun(evaluator, { filter }), { matching: 33, already_scored: 33 });
});

t.test(
  'a run skips requests that this version of the evaluator has scored, and includes those of other versions',
  async (t) => {
    const { api, world, organizationId, make, start, get } = await setUp(t);
    const ids = await world.requests(organizationId, 20);
    const evaluator = await make('length');
    for (const state of ['completed', 'error', 'skipped', 'pending', 'cancelled']) {
      await world.schedule(evaluator, [ids.pop()!], { state });
    }
    const first = await start(evaluator);
    await scheduleAll(world);
    t.equal((await get(evaluator, first)).scheduled, 15);
    const again = await start(evaluator);
    await scheduleAll(world);
    t.equal((await get(evaluator, again)).scheduled, 0);
    await api.make(`/v1/evaluator/${evaluator.evaluatorId}`, { code_template: { code: 'x' } }, 'PUT');
    const changed = await start(evaluator);
    await scheduleAll(world);
    t.match(await get(evaluator, changed), { scheduled: 20, version: 2 });
    t.equal((await scheduledOf(world, evaluator)).length, 40);
  },
);

t.test('a run with a limit takes the newest requests, not counting those already scored', async (t) => {
  const { world, organizationId, make, start, get } = await setUp(t);
  const ids = await world.requests(organizationId, 2 * PAGE);
  const evaluator = await make('length');
  await world.schedule(evaluator, ids.slice(-PAGE), { state: 'completed' });
  const run = await start(evaluator, { limit: 7 });
  await scheduleAll(world);
  const own = (await scheduledOf(world, evaluator)).filter((row) => row.run_id === run.id);
  t.same(requestIds(own), ids.slice(PAGE - 7, PAGE));
  t.equal((await get(evaluator, run)).scheduled, 7);
});

t.test('a run leaves out requests that come in after it was created', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  const before = await world.requests(organizationId, 5);
  const evaluator = await make('length');
  await start(evaluator);
  const after = await world.requests(organizationId, 5);
  await world.sql`
    update assay.requests set created_at = now() + interval '1 s' where request_id = any(${after})`;
  await scheduleAll(world);
  t.same(requestIds(await scheduledOf(world, evaluator)), before);
});

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

t.test('a paused run schedules and starts nothing until it is resumed', async (t) => {
  const { world, organizationId, make, start, get, tell } = await setUp(t);
  await world.requests(organizationId, PAGE + 10);
  const evaluator = await make('length');
  const run = await start(evaluator);
  t.equal(await scheduleNextPage(world.sql, log), PAGE);
  t.match(await tell(evaluator, run, 'pause'), { state: 'paused', pending: PAGE });
  t.same(await scheduleAll(world), []);
  t.same(await world.claimAll(), [], 'pending evaluations of a paused run are not claimed');
  t.match(await tell(evaluator, run, 'resume'), { state: 'running' });
  t.same(await scheduleAll(world), [10]);
  t.equal((await world.claimSoon()).length, PAGE + 10);
  t.match(await get(evaluator, run), { scheduled: PAGE + 10 });
});

t.test('pausing a run waits for the page being scheduled, which is then paused entirely', async (t) => {
  const { world, organizationId, make, start, get, tell } = await setUp(t);
  await world.requests(organizationId, PAGE + 10);
  const evaluator = await make('length');
  const run = await start(evaluator);
  const keeper = await openTransaction(world.sql, lockEvaluations);
  const waiters = (count: number) =>
    waitFor(`${count} to wait`, async () => {
      const rows = await world.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length === count;
    });
  const walking = scheduleNextPage(world.connect(1), log);
  await waiters(1);
  const pausing = tell(evaluator, run, 'pause');
  await waiters(2);
  await keeper.end();
  t.equal(await walking, PAGE);
  await pausing;
  t.match(await get(evaluator, run), { state: 'paused', scheduled: PAGE });
  t.same(await world.claimAll(), []);
  t.same(await scheduleAll(world), []);
});

t.test('cancelling a run ends its evaluations that have not begun, and schedules no more', async (t) => {
  const { world, organizationId, make, start, get, tell } = await setUp(t);
  await world.requests(organizationId, PAGE + 10);
  const evaluator = await make('length');
  const run = await start(evaluator);
  await scheduleNextPage(world.sql, log);
  await world.sql`
    update assay.evaluations set state = 'completed' where evaluation_id in (
      select evaluation_id from assay.evaluations limit 20)`;
  t.match(await tell(evaluator, run, 'cancel'), { state: 'cancelled', completed: 20, cancelled: PAGE - 20 });
  t.same(await scheduleAll(world), []);
  t.same(await world.claimAll(), []);
  t.match(await get(evaluator, run), { pending: 0, scheduled: PAGE });
});

t.test('a run has a bounded number of unfinished evaluations, and continues as they finish', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  await world.requests(organizationId, MAX_WAITING + PAGE + 5);
  const evaluator = await make('length');
  await start(evaluator);
  t.equal(sum(await scheduleAll(world)), MAX_WAITING);
  const other = await make('other');
  await start(other, { limit: 3 });
  t.equal(sum(await scheduleAll(world)), 3, 'a run at its maximum delays no other run');
  await world.sql`update assay.evaluations set state = 'completed' where evaluator_id = ${evaluator.evaluatorId}`;
  t.same(await scheduleAll(world), [PAGE, 5]);
});

t.test('evaluations of incoming requests are done before those of runs', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  const ids = await world.requests(organizationId, 20);
  const evaluator = await make('length');
  await start(evaluator, { limit: 15 });
  await scheduleAll(world);
  const online = await make('online');
  await world.schedule(online, ids.slice(0, 5));
  const claimed = [];
  await world.sql`update assay.evaluations set due_at = due_at - interval '1 s'`;
  for (let index = 0; index < 4; index += 1) {
    const jobs = await world.claimAll('python', 5);
    claimed.push(new Set(jobs.map((job) => job.evaluator.id)));
  }
  t.same(claimed[0], new Set([online.evaluatorId]));
  t.same(
    claimed.slice(1),
    [1, 2, 3].map(() => new Set([evaluator.evaluatorId])),
  );
});

t.test('a run waits while its evaluator is paused, and ends when it is deleted', async (t) => {
  const { api, world, organizationId, make, start, get } = await setUp(t);
  await world.requests(organizationId, 5);
  const paused = await make('paused', RANGE);
  const run = await start(paused);
  await world.sql`update assay.evaluators set paused_reason = 'auth' where evaluator_id = ${paused.evaluatorId}`;
  t.same(await scheduleAll(world), []);
  await api.make(`/v1/evaluator/${paused.evaluatorId}/resume`, {});
  t.same(await scheduleAll(world), [5]);
  t.match(await get(paused, run), { scheduled: 5 });

  const deleted = await make('deleted');
  await start(deleted);
  await api.make(`/v1/evaluator/${deleted.evaluatorId}`, undefined, 'DELETE');
  t.same(await scheduleAll(world), []);
  t.same(await scheduledOf(world, deleted), []);
});

t.test('waiting evaluations finish when their paused evaluator is deleted', async (t) => {
  const { api, world, organizationId, make } = await setUp(t);
  const ids = await world.requests(organizationId, 3);
  const evaluator = await make('paused', RANGE);
  await world.sql`update assay.evaluators set paused_reason = 'auth'`;
  await world.schedule(evaluator, ids, { state: 'paused' });
  await api.make(`/v1/evaluator/${evaluator.evaluatorId}`, undefined, 'DELETE');
  const jobs = await world.claimSoon();
  t.equal(jobs.length, 3);
  for (const job of jobs) {
    t.equal(job.evaluator.isDeleted, true);
    await settle(world.sql, job, skipped('evaluator_deleted', 'Deleted'), null);
  }
  t.same(
    (await scheduledOf(world, evaluator)).map((row) => row.state),
    ['skipped', 'skipped', 'skipped'],
  );
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
  const walker = scheduleRuns({ sql: world.sql, log, onScheduled: () => {} });
  t.teardown(() => walker.stop());
  await waitFor(
    'the other run to be scheduled',
    async () => (await scheduledOf(world, sound)).length === PAGE + 10,
    15_000,
  );
  t.same(await scheduledOf(world, broken), []);
});

t.test('scheduleRuns schedules by itself, calls onScheduled, and stops', async (t) => {
  const { world, organizationId, make, start } = await setUp(t);
  await world.requests(organizationId, PAGE + 10);
  let told = 0;
  const walker = scheduleRuns({
    sql: world.sql,
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
    5_000,
  );
  await walker.stop();
  t.equal(told, 2);
});
