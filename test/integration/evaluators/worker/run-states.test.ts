/** Runs that are paused, resumed or cancelled, or whose evaluator is paused or deleted. */
import t from 'tap';
import { scheduleNextPage } from '../../../../evaluators/worker/runs.ts';
import { waitFor } from '../../../support/assay.ts';
import { RANGE } from '../../../support/evaluators-process.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { lockEvaluations, log, PAGE, scheduleAll, scheduledOf, setUp } from './runs-world.ts';

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
  t.same(await world.claimAll(), []);
  t.same(
    (await scheduledOf(world, evaluator)).map((row) => row.state),
    ['skipped', 'skipped', 'skipped'],
  );
});
