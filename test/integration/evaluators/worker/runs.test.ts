/** Which requests runs over history schedule, and in which order they are evaluated. */
import t from 'tap';
import { MAX_WAITING, OK, PAGE, requestIds, scheduleAll, scheduledOf, setUp, sum } from './runs-world.ts';

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
