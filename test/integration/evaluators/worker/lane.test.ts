/** A lane of the worker on a real queue: its capacity, and its behaviour when a process or Postgres fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import type { JudgeUse } from '#core/scoring/mod.ts';
import { createLogger, type Logger } from '#platform/observability/log.ts';
import { connectPostgres, createListener, onAnnounced, type Sql } from '#platform/postgres/mod.ts';
import { type Job, LEASE_MS, type NextState, nextState } from '../../../../evaluators/queue/mod.ts';
import { createEvaluationLane } from '../../../../evaluators/worker/evaluation-lane.ts';
import { waitFor } from '../../../support/assay.ts';
import { startWorld, type World } from '../../../support/evaluation-queue.ts';
import { leastOf } from '../../../support/least-of.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { tcpProxy } from '../../../support/tcp-proxy.ts';
import { createWorld } from '../../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });

const completed = (score: number): NextState =>
  nextState(
    {
      outcome: { state: 'completed', score, label: null, reasoning: null, traces: null, flags: [] },
      use: null,
    },
    1,
  );

const useOf = (job: Job): JudgeUse => ({
  calls: 1,
  requestIds: [`call of ${job.evaluationId}, claim ${job.claim}`],
  model: 'gpt-4o',
  promptTokens: 1,
  completionTokens: 1,
  costNano: 100,
  latencyMs: 1,
});

type Begun = { job: Job; end(): void };

/** Starts a lane whose evaluations end when the test ends them, all with the score 1, or at once. */
function startLane(
  t: Test,
  sql: Sql,
  given: {
    capacity?: number;
    score?: number;
    endsAtOnce?: boolean;
    log?: Logger;
    longestSleepMs?: number;
  } = {},
) {
  const { capacity = 8, score = 1, endsAtOnce = false } = given;
  const open: Begun[] = [];
  const begun: string[] = [];
  const settled: string[] = [];
  let most = 0;
  const evaluateOne = async (job: Job) => {
    begun.push(job.evaluationId);
    if (!endsAtOnce) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const one = { job, end: resolve };
      open.push(one);
      most = Math.max(most, open.length);
      await promise;
      open.splice(open.indexOf(one), 1);
    }
    return { next: completed(score), use: useOf(job) };
  };
  const lane = createEvaluationLane({
    sql,
    log: given.log ?? log,
    name: 'remote',
    capacity,
    evaluate: (group) => Promise.all(group.map(evaluateOne)),
    onSettled: (job) => settled.push(job.evaluationId),
    longestSleepMs: () => given.longestSleepMs ?? 1_000,
  });
  let hasEnded = false;
  const running = lane.run().then(() => {
    hasEnded = true;
  });
  const endAll = () => {
    for (const one of [...open]) one.end();
  };
  t.teardown(async () => {
    lane.stop();
    const ending = setInterval(endAll, 20);
    await running;
    clearInterval(ending);
  });
  return { lane, open, begun, settled, endAll, running, most: () => most, hasEnded: () => hasEnded };
}

async function judge(world: World, organizationId?: string) {
  const evaluator = await world.evaluator(organizationId ?? (await world.organization()), {
    scoringType: 'LLM-BOOLEAN',
  });
  return {
    evaluator,
    /** Evaluations of new requests; returns their ids. */
    schedule: async (count: number) =>
      await world.schedule(evaluator, await world.requests(evaluator.organizationId, count)),
  };
}

const states = async (world: World): Promise<Record<string, number>> => {
  const rows = await world.sql<{ state: string; count: number }[]>`
    select state, count(*)::int4 as count from assay.evaluations group by state`;
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

t.test(
  'a lane holds at most its capacity, half of it for one organization, and one more for one that has none',
  async (t) => {
    const world = await startWorld(t);
    const [first, second, third] = [await judge(world), await judge(world), await judge(world)];
    await first.schedule(30);
    const { lane, open, begun, endAll, most } = startLane(t, world.sql, { capacity: 8 });
    await waitFor('half of the capacity to be used', () => open.length === 4);
    await second.schedule(30);
    lane.wake();
    await waitFor('the other half to be used', () => open.length === 8);
    const holders = () => Map.groupBy(open, ({ job }) => job.organizationId);
    t.same(
      [...holders().values()].map((own) => own.length),
      [4, 4],
    );
    t.equal(lane.held, 8);
    await third.schedule(30);
    lane.wake();
    await waitFor('the organization that came last to have a place', () => open.length === 9);
    t.equal(holders().get(third.evaluator.organizationId)?.length, 1);
    for (const { job, end } of [...open]) if (job.organizationId !== third.evaluator.organizationId) end();
    await waitFor('the freed places to be used', () => begun.length > 9);
    await waitFor('all evaluations to be done', async () => {
      endAll();
      return (await states(world)).completed === 90;
    });
    t.ok(most() <= 9, `${most()} at a time`);
    t.equal(new Set(begun).size, begun.length, 'no evaluation was done twice');
    await waitFor('nothing to be held', () => lane.held === 0);
  },
);

t.test('organizations that fill a lane for long keep no other from it, up to a quarter more', async (t) => {
  const world = await startWorld(t);
  const judges = await Promise.all(Array.from({ length: 6 }, () => judge(world)));
  for (const { schedule } of judges.slice(0, 2)) await schedule(30);
  const { lane, open, endAll, most } = startLane(t, world.sql, { capacity: 8 });
  await waitFor('the lane to be full', () => open.length === 8);
  for (const { schedule } of judges.slice(2)) await schedule(1);
  lane.wake();
  await waitFor('two more organizations to have a place', () => open.length === 10);
  await sleep(300);
  const held = Map.groupBy(open, ({ job }) => job.organizationId);
  t.same(
    [...held.values()].map((own) => own.length),
    [4, 4, 1, 1],
  );
  await waitFor('all evaluations to be done', async () => {
    endAll();
    return (await states(world)).completed === 64;
  });
  t.equal(most(), 10);
});

t.test('evaluations that never end delay no other organization', async (t) => {
  const world = await startWorld(t);
  const [hog, modest] = [await judge(world), await judge(world)];
  await hog.schedule(200);
  const { open } = startLane(t, world.sql, { capacity: 4 });
  await waitFor('the busy organization to fill its share', () => open.length === 2);
  const [id] = await modest.schedule(1);
  await waitFor('the other organization to begin', () => open.some(({ job }) => job.evaluationId === id));
  t.equal(open.filter(({ job }) => job.organizationId === hog.evaluator.organizationId).length, 2);
});

t.test('a lane starts new work at once when woken, and within about a second otherwise', async (t) => {
  const world = await startWorld(t);
  const { schedule } = await judge(world);
  const { lane, begun } = startLane(t, world.sql, { endsAtOnce: true });
  const waitOf = async (isTold: boolean) => {
    const [id] = await schedule(1);
    const start = performance.now();
    if (isTold) lane.wake();
    await waitFor('the evaluation to begin', () => begun.includes(id!));
    return performance.now() - start;
  };
  // From here on each begins right after the lane has looked: not woken, it would wait for nearly a second.
  await waitOf(true);
  const leastMs = await leastOf(12, () => waitOf(true), 250);
  t.ok(leastMs < 250, `told: after ${Math.round(leastMs)} ms`);
  t.ok((await leastOf(5, () => waitOf(false), 3_000)) < 3_000);
});

t.test(
  'a lane that nothing wakes begins a retry, and the work of a dead process, when they are due',
  async (t) => {
    const world = await startWorld(t);
    const { evaluator } = await judge(world);
    const requestIds = await world.requests(evaluator.organizationId, 2);
    const startedAt = performance.now();
    const [retry] = await world.schedule(evaluator, requestIds.slice(0, 1), { dueInMs: 700, attempts: 1 });
    const [orphan] = await world.schedule(evaluator, requestIds.slice(1), {
      dueInMs: 1_400,
      state: 'running',
    });
    const { begun } = startLane(t, world.sql, { endsAtOnce: true, longestSleepMs: 3_600_000 });
    await waitFor('the retry', () => begun.includes(retry!));
    t.ok(performance.now() - startedAt > 500, 'not before it is due');
    await waitFor('the work of the dead process', () => begun.includes(orphan!));
    t.same(begun, [retry, orphan]);
  },
);

t.test('work announced while the connection of the listener was cut is found after it is back', async (t) => {
  const world = await startWorld(t);
  const { schedule } = await judge(world);
  const proxy = await tcpProxy(world.url);
  t.teardown(() => proxy.close());
  const through = connectPostgres({
    url: proxy.url,
    max: 1,
    applicationName: 'test',
    statementTimeoutMs: 5_000,
  });
  t.teardown(() => through.end({ timeout: 1 }));
  const { lane, begun } = startLane(t, world.sql, { endsAtOnce: true, longestSleepMs: 3_600_000 });
  const listener = createListener({ sql: through, log });
  const announced = onAnnounced(listener, EVALUATIONS_CHANNEL, () => lane.wake());
  t.teardown(() => announced.stop());
  const announce = () => world.sql.notify(EVALUATIONS_CHANNEL, '');
  await waitFor('the listener to hear', () => listener.isHearing());
  const [heard] = await schedule(1);
  await announce();
  await waitFor('the evaluation that was announced', () => begun.includes(heard!));
  await proxy.cut();
  // The loss wakes the lane once.
  await sleep(500);
  const [missed] = await schedule(1);
  await announce();
  await sleep(500);
  t.notOk(begun.includes(missed!), 'the announcement is lost');
  await proxy.restore();
  await waitFor('the evaluation whose announcement was lost', () => begun.includes(missed!));
});

t.test('a stopping lane finishes the evaluations under way and claims no more', async (t) => {
  const world = await startWorld(t);
  const { schedule } = await judge(world);
  const { lane, open, begun, endAll, running, hasEnded } = startLane(t, world.sql, { capacity: 4 });
  await schedule(10);
  lane.wake();
  await waitFor('two evaluations to begin', () => open.length === 2);
  lane.stop();
  t.notOk(hasEnded());
  endAll();
  await running;
  t.equal(begun.length, 2);
  t.same(await states(world), { completed: 2, pending: 8 });
});

t.test(
  'an abandoned evaluation is claimed by another lane at once, and the first lane cannot change it',
  async (t) => {
    const world = await startWorld(t);
    const { schedule } = await judge(world);
    const ids = await schedule(3);
    const first = startLane(t, world.sql, { score: 1 });
    await waitFor('all evaluations to begin', () => first.open.length === 3);
    first.lane.stop();
    await first.lane.abandon();
    const second = startLane(t, world.connect(), { score: 2 });
    const start = performance.now();
    await waitFor('all evaluations to begin in the second lane', () => second.open.length === 3);
    t.ok(performance.now() - start < LEASE_MS / 10);
    first.endAll();
    await first.running;
    t.same(await world.scores(), []);
    second.endAll();
    await waitFor('all evaluations to be completed', async () => (await states(world)).completed === 3);
    for (const id of ids) t.match(await world.row(id), { score: 2, attempts: 1, judge_calls: 2 });
    t.same(first.settled, []);
    t.same([...second.settled].sort(), [...ids].sort());
  },
);

t.test('an abandoned evaluation is not settled by its lane, even before it is claimed again', async (t) => {
  const world = await startWorld(t);
  const { schedule } = await judge(world);
  const [id] = await schedule(1);
  const { lane, open, endAll, running } = startLane(t, world.sql);
  await waitFor('the evaluation to begin', () => open.length === 1);
  lane.stop();
  await lane.abandon();
  // An evaluation that ends now ends because everything it needs is being closed.
  endAll();
  await running;
  t.match(await world.row(id!), { score: null, finished_at: null, judge_calls: 1 });
  t.match(await world.claimSoon('remote'), [{ evaluationId: id }]);
});

t.test('the lease of a long evaluation is renewed', async (t) => {
  const world = await startWorld(t);
  const real = globalThis.setInterval;
  t.intercept(globalThis, 'setInterval', {
    value: (callback: () => void, waitMs: number) => real(callback, waitMs / 400),
  });
  const { schedule } = await judge(world);
  const [id] = await schedule(1);
  const { open } = startLane(t, world.sql);
  await waitFor('the evaluation to begin', () => open.length === 1);
  await world.sql`update assay.evaluations set due_at = now() + interval '1 s'`;
  await waitFor('the lease to be renewed', async () => {
    const [row] = await world.sql`select due_at > now() + interval '50 s' as kept from assay.evaluations`;
    return row!.kept as boolean;
  });
  t.match(await world.row(id!), { state: 'running', attempts: 1 });
});

/** Starts a lane that reaches Postgres through a TCP proxy. */
async function startLaneBehindDoor(t: Test, world: World) {
  const door = await createWorld(t, world);
  const proxy = await door.proxy();
  const sql = door.connect({
    url: proxy.url,
    max: 4,
    applicationName: 'test-lane',
    statementTimeoutMs: 30_000,
  });
  const warned: string[] = [];
  const watched = Object.create(log, {
    warn: { value: (_fields: object, message: string) => warned.push(message) },
  }) as Logger;
  return { proxy, warned, ...startLane(t, sql, { log: watched }) };
}

const IN_VAIN = 'cannot settle one of the evaluations';
/** The lane tries to settle every half a second. */
const THREE_ATTEMPTS_MS = 1_500;

t.test('work whose lease ran out goes on under it, and is not done twice', async (t) => {
  const world = await startWorld(t);
  const { schedule } = await judge(world);
  await schedule(1);
  const { lane, open, begun, settled, endAll } = startLane(t, world.sql);
  await waitFor('the evaluation to begin', () => open.length === 1);
  // As after Postgres was away for as long as a lease, or this process frozen.
  await world.sql`update assay.evaluations set due_at = now() - interval '1 second'`;
  const now = performance.now.bind(performance);
  t.intercept(performance, 'now', { value: () => now() + LEASE_MS });
  lane.wake();
  await waitFor('the lease to be renewed', async () => {
    const [row] = await world.sql`select due_at > now() + interval '50 s' as kept from assay.evaluations`;
    return row!.kept as boolean;
  });
  endAll();
  await waitFor('it to be settled', async () => settled.length === 1);
  t.strictSame(await states(world), { completed: 1 });
  t.equal(begun.length, 1);
});

t.test('results wait while Postgres is unavailable, and are settled once it is available', async (t) => {
  const world = await startWorld(t);
  const { evaluator, schedule } = await judge(world);
  const ids = await schedule(4);
  const { proxy, warned, open, settled, endAll, lane } = await startLaneBehindDoor(t, world);
  await waitFor('all evaluations to begin', () => open.length === 4);
  await proxy.cut();
  endAll();
  await waitFor('an attempt to settle', () => warned.includes(IN_VAIN));
  await sleep(THREE_ATTEMPTS_MS);
  t.ok(warned.filter((what) => what === IN_VAIN).length < 8, 'and do not fill the log');
  t.equal(lane.held, 4, 'the lane keeps all of them');
  t.same(await states(world), { running: 4 });
  await proxy.restore();
  await waitFor('all evaluations to be settled', () => lane.held === 0);
  for (const id of ids) t.match(await world.row(id), { state: 'completed', attempts: 1, judge_calls: 1 });
  t.same([...settled].sort(), [...ids].sort());
  t.equal((await world.scores()).length, 4);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 400 });
  const [more] = await schedule(1);
  await waitFor('the lane to claim again', () => open.some(({ job }) => job.evaluationId === more));
});

t.test('an evaluation that another process settled during an outage is not overwritten', async (t) => {
  const world = await startWorld(t);
  const { schedule } = await judge(world);
  const [id] = await schedule(1);
  const { proxy, warned, open, settled, endAll, lane } = await startLaneBehindDoor(t, world);
  await waitFor('the evaluation to begin', () => open.length === 1);
  await proxy.cut();
  endAll();
  await waitFor('an attempt to settle', () => warned.includes(IN_VAIN));
  await world.sql`update assay.evaluations set due_at = now() - interval '1 s'`;
  const other = startLane(t, world.sql, { score: 2, endsAtOnce: true });
  await waitFor('the other process to settle', async () => (await world.row(id!)).state === 'completed');
  await proxy.restore();
  await waitFor('the first lane to notice', () => lane.held === 0);
  t.match(await world.row(id!), {
    state: 'completed',
    score: 2,
    attempts: 2,
    judge_calls: 2,
    cost_nano: '200',
  });
  t.match(await world.scores(), [{ value: 2 }]);
  t.same([settled, other.settled], [[], [id]]);
});

t.test('a result is written once when the response to its statement is lost', async (t) => {
  const world = await startWorld(t);
  const { evaluator, schedule } = await judge(world);
  const [id] = await schedule(1);
  const { proxy, warned, open, endAll, lane } = await startLaneBehindDoor(t, world);
  await waitFor('the evaluation to begin', () => open.length === 1);
  // The connection breaks while the server executes the statement, which it completes.
  const held = await openTransaction(world.sql, (tx) => tx`select from assay.evaluations for update`);
  endAll();
  await waitFor('the statement to wait for the row', async () => {
    const rows = await world.sql`
      select from pg_stat_activity where application_name = 'test-lane' and wait_event_type = 'Lock'`;
    return rows.length === 1;
  });
  await proxy.cut();
  await waitFor('an attempt to settle', () => warned.includes(IN_VAIN));
  await held.end();
  await waitFor(
    'the server to complete the statement',
    async () => (await world.row(id!)).state === 'completed',
  );
  await proxy.restore();
  await waitFor('the lane to notice', () => lane.held === 0);
  t.match(await world.row(id!), { state: 'completed', attempts: 1, judge_calls: 1, cost_nano: '100' });
  t.same(await world.spent(), { [evaluator.evaluatorId]: 100 });
});

t.test('a Postgres that hangs for a while delays results and loses none', async (t) => {
  const world = await startWorld(t);
  const { evaluator, schedule } = await judge(world);
  const ids = await schedule(4);
  const { proxy, open, endAll, lane } = await startLaneBehindDoor(t, world);
  await waitFor('all evaluations to begin', () => open.length === 4);
  proxy.freeze();
  endAll();
  await waitFor('all evaluations to end', () => open.length === 0);
  t.same(await states(world), { running: 4 });
  proxy.thaw();
  await waitFor('all evaluations to be settled', () => lane.held === 0);
  for (const id of ids) t.match(await world.row(id), { state: 'completed', attempts: 1, judge_calls: 1 });
  t.same(await world.spent(), { [evaluator.evaluatorId]: 400 });
});
