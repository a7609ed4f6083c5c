/** Evaluations that need no scoring, that must wait, and daily budgets: with real claims and a scripted scorer. */
import t from 'tap';
import type { Outcome } from '#core/scoring/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { claim, type Job, MAX_ATTEMPTS, MAX_BODY_BYTES, settle } from '../../../../evaluators/queue/mod.ts';
import { evaluate } from '../../../../evaluators/worker/evaluate.ts';
import { createEvaluationLane } from '../../../../evaluators/worker/evaluation-lane.ts';
import type { ScoreJob, Scorer } from '../../../../evaluators/worker/scorer.ts';
import { waitFor } from '../../../support/assay.ts';
import { type Evaluator, startWorld, type World } from '../../../support/evaluation-queue.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const KEY = Buffer.alloc(32, 1);
const DAY_MS = 86_400_000;

const COMPLETED: Outcome = {
  state: 'completed',
  score: 1,
  label: null,
  reasoning: null,
  traces: null,
  flags: [],
};

/** Starts a scorer that completes everything at this price, and keeps the jobs it received. */
function startScorer(costNano: number | null = null) {
  const jobs: ScoreJob[] = [];
  const scorer: Scorer = {
    score: async (job) => {
      jobs.push(job);
      return job.items.map(({ evaluationId }) => ({
        outcome: COMPLETED,
        use: {
          calls: 1,
          requestIds: [`call ${jobs.length} of ${evaluationId}`],
          model: 'gpt-4o',
          promptTokens: 1,
          completionTokens: 1,
          costNano,
          latencyMs: 1,
        },
      }));
    },
    close: async () => {},
  };
  const options = { scorer, secrets: createSecretBox([KEY]), clock: systemClock };
  return { jobs, evaluate: (group: readonly Job[]) => evaluate(group, options) };
}

const judgeOf = (world: World, organizationId: string, given = {}) =>
  world.evaluator(organizationId, {
    scoringType: 'LLM-BOOLEAN',
    llmTemplate: { model: 'gpt-4o', prompt: 'Polite?' },
    ...given,
  });

t.test('an evaluation with nothing to score gets its next state without being scored', async (t) => {
  const world = await startWorld(t);
  const cases: [
    string,
    (one: { evaluator: Evaluator; requestId: string; id: string }) => Promise<unknown>,
    object,
  ][] = [
    [
      'its evaluator was deleted',
      ({ evaluator }) =>
        world.sql`update assay.evaluators set deleted_at = now() where evaluator_id = ${evaluator.evaluatorId}`,
      { state: 'skipped', errorCode: 'evaluator_deleted' },
    ],
    [
      'its evaluator was deleted while it was paused',
      ({ evaluator }) =>
        world.sql`
          update assay.evaluators set deleted_at = now(), paused_reason = 'auth'
           where evaluator_id = ${evaluator.evaluatorId}`,
      { state: 'skipped', errorCode: 'evaluator_deleted' },
    ],
    [
      'its request was deleted',
      ({ requestId }) => world.sql`delete from assay.requests where request_id = ${requestId}`,
      { state: 'skipped', errorCode: 'request_deleted' },
    ],
    [
      'its request is a call of an evaluator',
      ({ requestId }) =>
        world.sql`update assay.requests set source = 'evaluator' where request_id = ${requestId}`,
      { state: 'skipped', errorCode: 'evaluator_call' },
    ],
    [
      'its response is too large',
      ({ requestId }) =>
        world.sql`
          update assay.request_bodies set response_text = repeat('x', ${MAX_BODY_BYTES + 1})
           where request_id = ${requestId}`,
      { state: 'error', errorCode: 'input_too_large' },
    ],
    [
      'its request is too large',
      ({ requestId }) =>
        world.sql`
          update assay.request_bodies set request_text = repeat('x', ${MAX_BODY_BYTES + 1})
           where request_id = ${requestId}`,
      { state: 'error', errorCode: 'input_too_large' },
    ],
    [
      'its lease expired at every attempt',
      ({ id }) =>
        world.sql`update assay.evaluations set attempts = ${MAX_ATTEMPTS} where evaluation_id = ${id}`,
      { state: 'dead', errorCode: 'worker_lost' },
    ],
    [
      'its evaluator is paused',
      ({ evaluator }) =>
        world.sql`update assay.evaluators set paused_reason = 'auth' where evaluator_id = ${evaluator.evaluatorId}`,
      { state: 'paused', isUncounted: true, pause: null },
    ],
    [
      'its secrets were encrypted with another key',
      ({ evaluator }) => world.sql`
        update assay.evaluator_versions set secrets = ${createSecretBox([Buffer.alloc(32, 2)]).seal(
          { token: 'x' },
          evaluator,
        )} where evaluator_id = ${evaluator.evaluatorId}`,
      { state: 'error', errorCode: 'secrets_unavailable' },
    ],
  ];
  for (const [title, change, next] of cases) {
    const organizationId = await world.organization();
    const evaluator = await world.evaluator(organizationId, { scoringType: 'EXTERNAL' });
    const [requestId] = await world.requests(organizationId, 1);
    const [id] = await world.schedule(evaluator, [requestId!]);
    await change({ evaluator, requestId: requestId!, id: id! });
    const scorer = startScorer();
    const [job] = await world.claimAll('remote');
    t.match(await scorer.evaluate([job!]), [{ next: { score: null, ...next }, use: null }], title);
    t.same(scorer.jobs, []);
    await settle(world.sql, job!, (await scorer.evaluate([job!]))[0]!.next, null);
  }
  t.same(await world.scores(), []);
});

t.test('the last attempt is still scored', async (t) => {
  const world = await startWorld(t);
  const evaluator = await judgeOf(world, await world.organization());
  await world.schedule(evaluator, await world.requests(evaluator.organizationId, 1), {
    attempts: MAX_ATTEMPTS - 1,
  });
  const scorer = startScorer();
  t.match(await scorer.evaluate(await world.claimAll('remote')), [{ next: { state: 'completed' } }]);
  t.equal(scorer.jobs.length, 1);
});

t.test('evaluations that are scored together each get their own next state, in order', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const requests = await world.requests(evaluator.organizationId, 5);
  await world.schedule(evaluator, requests);
  await world.sql`delete from assay.requests where request_id = any(${[requests[0]!, requests[3]!]})`;
  const jobs = (await world.claimAll()).sort((a, b) => (a.requestId < b.requestId ? -1 : 1));
  const scorer = startScorer();
  const evaluated = await scorer.evaluate(jobs);
  t.same(
    evaluated.map(({ next }) => next.state),
    ['skipped', 'completed', 'completed', 'skipped', 'completed'],
  );
  t.match(
    scorer.jobs.map(({ items }) => items.map(({ call }) => call.requestId)),
    [[requests[1], requests[2], requests[4]]],
  );
  t.same(
    evaluated.map(({ use }) => use?.requestIds ?? null),
    [
      null,
      ...[1, 2].map((at) => [`call 1 of ${jobs[at]!.evaluationId}`]),
      null,
      [`call 1 of ${jobs[4]!.evaluationId}`],
    ],
  );
});

/** Evaluates one at a time, so that each sees what the ones before it have spent. */
function startLane(world: World, evaluateGroup: ReturnType<typeof startScorer>['evaluate']) {
  const lane = createEvaluationLane({
    sql: world.sql,
    log,
    name: 'remote',
    capacity: 1,
    evaluate: evaluateGroup,
    onSettled: () => {},
    longestSleepMs: () => 1_000,
  });
  const running = lane.run();
  return {
    stop: async () => {
      lane.stop();
      await running;
    },
  };
}

type Wait = { state: string; count: number; attempts: number; code: string | null; at: Date };

/** Returns the pending evaluations, and when they are due. */
const waiting = (world: World, { evaluatorId }: Evaluator) => world.sql<Wait[]>`
  select state, count(*)::int4 as count, max(attempts)::int4 as attempts, min(error_code) as code, max(due_at) as at
    from assay.evaluations where evaluator_id = ${evaluatorId} and state <> 'completed' group by state`;

const isSettled = async (world: World): Promise<boolean> => {
  const [row] = await world.sql`
    select count(*)::int4 as open from assay.evaluations where state = 'running' or (state = 'pending' and due_at <= now())`;
  return row!.open === 0;
};

/** Moves to the next day: the spending was yesterday's, and what was postponed is due. */
async function dawn({ sql }: World): Promise<void> {
  await sql`update assay.evaluation_spend set day = day - 1`;
  await sql`
    update assay.evaluations set due_at = due_at - interval '1 day' - interval '1 s' where state = 'pending'`;
}

t.test("evaluations beyond an evaluator's daily budget are all done on the following days", async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const evaluator = await judgeOf(world, organizationId, { dailyBudgetNano: 1_000 });
  const free = await judgeOf(world, organizationId);
  const requests = await world.requests(organizationId, 10);
  await world.schedule(evaluator, requests);
  await world.schedule(free, requests);
  const scorer = startScorer(400);
  const lane = startLane(world, scorer.evaluate);
  t.teardown(() => lane.stop());
  for (const [day, left] of [7, 4, 1].entries()) {
    await waitFor('the evaluations of the day to be settled', () => isSettled(world));
    const midnight = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS;
    const [wait, ...others] = await waiting(world, evaluator);
    t.match(
      wait,
      { state: 'pending', count: left, attempts: 0, code: 'budget_exhausted' },
      `after ${day + 1} days`,
    );
    t.ok(Math.abs(wait!.at.getTime() - midnight) < 2_000, `${wait!.at.toISOString()} is midnight, UTC`);
    t.same(others, []);
    t.same(await waiting(world, free), [], 'evaluations of an evaluator without a budget do not wait');
    await dawn(world);
  }
  await waitFor('the last evaluations to be settled', () => isSettled(world));
  t.same(await waiting(world, evaluator), []);
  t.equal((await world.scores()).length, 20);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 4_000, [free.evaluatorId]: 4_000 });
});

t.test("an organization's budget covers all of its evaluators, and no other organization's", async (t) => {
  const world = await startWorld(t);
  const [poor, rich] = [await world.organization(), await world.organization()];
  await world.sql`update assay.organizations set evaluation_budget_nano = 1_000 where organization_id = ${poor}`;
  const evaluators = [
    await judgeOf(world, poor),
    await judgeOf(world, poor, { dailyBudgetNano: 1_000_000 }),
    await judgeOf(world, rich),
  ];
  for (const evaluator of evaluators) {
    await world.schedule(evaluator, await world.requests(evaluator.organizationId, 5));
  }
  const lane = startLane(world, startScorer(400).evaluate);
  t.teardown(() => lane.stop());
  await waitFor('the evaluations of the day to be settled', () => isSettled(world));
  const left = async (evaluator: Evaluator) => (await waiting(world, evaluator))[0]?.count ?? 0;
  t.equal((await left(evaluators[0]!)) + (await left(evaluators[1]!)), 7);
  t.equal(await left(evaluators[2]!), 0);
  const spent = await world.sql`
    select organization_id, sum(cost_nano)::int4 as cost from assay.evaluation_spend
     group by organization_id order by cost`;
  t.same(
    [...spent],
    [
      { organization_id: poor, cost: 1_200 },
      { organization_id: rich, cost: 2_000 },
    ],
  );
});

t.test('a budget of 0 runs nothing, and a raised budget takes effect at the next attempt', async (t) => {
  const world = await startWorld(t);
  const evaluator = await judgeOf(world, await world.organization(), { dailyBudgetNano: 0 });
  await world.schedule(evaluator, await world.requests(evaluator.organizationId, 3));
  const scorer = startScorer(400);
  const round = async () => {
    const { jobs } = await claim(world.sql, {
      lane: 'remote',
      limit: 10,
      roomByOrganization: new Map(),
      roomOfOthers: 10,
    });
    const evaluated = await Promise.all(
      jobs.map(async (job) => ({ job, done: (await scorer.evaluate([job]))[0]! })),
    );
    for (const { job, done } of evaluated) await settle(world.sql, job, done.next, done.use);
    return evaluated.map(({ done }) => done.next.state);
  };
  t.same(await round(), ['pending', 'pending', 'pending']);
  t.equal(scorer.jobs.length, 0);
  await world.sql`update assay.evaluators set daily_budget_nano = 400`;
  t.same(await round(), [], 'a postponed evaluation waits for the next day');
  await dawn(world);
  t.same(
    await round(),
    ['completed', 'completed', 'completed'],
    'evaluations claimed together see the same spending',
  );
  t.same(await world.spent(), { [evaluator.evaluatorId]: 1_200 });
});
