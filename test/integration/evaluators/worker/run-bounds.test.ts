/** Runs over a sample of history, and runs that may cost so much and no more. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { samplingPoint } from '#core/scoring/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { nextState, settle } from '../../../../evaluators/queue/mod.ts';
import { evaluate } from '../../../../evaluators/worker/evaluate.ts';
import { scheduleNextPage } from '../../../../evaluators/worker/runs.ts';
import { type Evaluator, worldIn } from '../../../support/evaluation-queue.ts';
import { BOOLEAN, PYTHON, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { silentLog } from '../../../support/world.ts';

type Run = {
  id: string;
  state: string;
  scheduled: number;
  skipped: number;
  completed: number;
  pending: number;
  limit: number | null;
  sample: { n: number; seed: number | null } | null;
  max_cost_usd: number | null;
  cost_usd: number;
};

const api = await startEvaluatorApi(t);
const world = await worldIn(t, api.database);
const { sql } = world;
const { organizationId } = api.own;
const USD_NANO = 1e9;

async function make(body: object = PYTHON): Promise<Evaluator> {
  const { id } = await api.make('/v1/evaluator', { name: randomUUID(), ...body });
  return { organizationId, evaluatorId: id, version: 1, scoringType: 'PYTHON', scoreKey: '' };
}
const runPath = ({ evaluatorId }: Evaluator) => `/v1/evaluator/${evaluatorId}/run`;
const start = (evaluator: Evaluator, body: object) =>
  api.make<Run>(runPath(evaluator), { filter: 'all', ...body });
const get = (evaluator: Evaluator, { id }: Run) => api.make<Run>(`${runPath(evaluator)}/${id}`);
async function scheduleAll(): Promise<void> {
  while ((await scheduleNextPage(sql, silentLog)) !== null);
}
const scheduledFor = async ({ evaluatorId }: Evaluator) =>
  (await sql`select request_id from assay.evaluations where evaluator_id = ${evaluatorId} order by 1`).map(
    (row) => row.request_id as string,
  );
/** The ids with the lowest points, in order of the ids. */
const lowest = (sampler: string, ids: readonly string[], n: number) =>
  [...ids]
    .sort((one, other) => samplingPoint(sampler, one) - samplingPoint(sampler, other))
    .slice(0, n)
    .sort();

/** A fresh set of requests; older ones of other tests go. */
async function requests(count: number): Promise<string[]> {
  await sql`delete from assay.requests`;
  return await world.requests(organizationId, count);
}

t.test(
  'a sample is the n requests that online sampling takes first, over several pages of history',
  async (t) => {
    const ids = await requests(1_300);
    const evaluator = await make();
    const run = await start(evaluator, { sample: { n: 40 } });
    t.match(run, { limit: null, sample: { n: 40, seed: null } });
    await scheduleAll();
    t.same(await scheduledFor(evaluator), lowest(evaluator.evaluatorId, ids, 40));
    t.match(await get(evaluator, run), { scheduled: 40, pending: 40 });
  },
);

t.test('a seed picks another sample, the same one each time', async (t) => {
  const ids = await requests(200);
  const evaluator = await make();
  await start(evaluator, { sample: { n: 20, seed: 7 } });
  await scheduleAll();
  const first = lowest(`${evaluator.evaluatorId}/7`, ids, 20);
  t.same(await scheduledFor(evaluator), first);
  const again = await start(evaluator, { sample: { n: 20, seed: 7 } });
  await scheduleAll();
  t.equal((await get(evaluator, again)).scheduled, 0, 'a replay finds all of it evaluated');
  await start(evaluator, { sample: { n: 20, seed: 8 } });
  await scheduleAll();
  const both = new Set([...first, ...lowest(`${evaluator.evaluatorId}/8`, ids, 20)]);
  t.same(await scheduledFor(evaluator), [...both].sort());
});

t.test(
  'a sample is of the requests that pass the filter, all of them where there are fewer, or none',
  async (t) => {
    const ids = await requests(30);
    const evaluator = await make();
    const some = ids.slice(0, 12);
    await sql`update assay.requests set user_id = 'u' where request_id = any(${some})`;
    await start(evaluator, { filter: { request: { user_id: { equals: 'u' } } }, sample: { n: 5 } });
    await scheduleAll();
    t.same(await scheduledFor(evaluator), lowest(evaluator.evaluatorId, some, 5));
    await start(evaluator, { filter: { request: { user_id: { equals: 'u' } } }, sample: { n: 1_000 } });
    await scheduleAll();
    t.same(await scheduledFor(evaluator), [...some].sort());
    const none = await start(evaluator, {
      filter: { request: { user_id: { equals: 'x' } } },
      sample: { n: 5 },
    });
    await scheduleAll();
    t.match(await get(evaluator, none), { state: 'completed', scheduled: 0 });
  },
);

t.test('a dry run of a sample estimates what the sample costs, and not more than the run may', async (t) => {
  await requests(50);
  const evaluator = await make(BOOLEAN);
  const [done] = await world.schedule(evaluator, await requests(50).then((ids) => ids.slice(0, 1)));
  await sql`
    update assay.evaluations set state = 'completed', finished_at = now(), cost_nano = ${0.01 * USD_NANO} where evaluation_id = ${done!}`;
  const dry = (body: object) =>
    api.make(runPath(evaluator), { filter: 'all', dryRun: true, ...body }) as Promise<object>;
  t.match(await dry({ sample: { n: 20 } }), { matching: 50, estimated_cost_usd: 0.2 });
  t.match(await dry({ sample: { n: 20 }, maxCost: 0.05 }), { estimated_cost_usd: 0.05 });
});

/** A run of LLM evaluations that may cost a dollar, with its evaluations claimed one after the other. */
async function budgeted(t: Test, count: number, maxCost = 1) {
  await requests(count);
  await sql`delete from assay.evaluations`;
  const evaluator = await make(BOOLEAN);
  const run = await start(evaluator, { maxCost });
  t.match(run, { max_cost_usd: maxCost, cost_usd: 0, state: 'running' });
  await scheduleAll();
  const use = (costNano: number) => ({
    calls: 1,
    requestIds: [randomUUID()],
    model: 'm',
    promptTokens: 1,
    completionTokens: 1,
    costNano,
    latencyMs: 1,
  });
  const claimOne = async () => {
    const [job] = await world.claimAll('remote', 1);
    return job!;
  };
  /** Evaluates the job as a worker does; the judge costs so much. */
  const finish = async (job: Awaited<ReturnType<typeof claimOne>>, usd: number) => {
    const scorer = {
      score: async () => [
        {
          outcome: { state: 'completed', score: 1, label: null, reasoning: null, traces: null, flags: [] },
          use: use(Math.round(usd * USD_NANO)),
        },
      ],
    } as never;
    const [result] = await evaluate([job], { scorer, secrets: createSecretBox([]), clock: systemClock });
    await settle(sql, job, result!.next, result!.use);
    return result!.next;
  };
  return { evaluator, run, use, claimOne, finish, show: () => get(evaluator, run) };
}

t.test(
  'a run that has spent its maxCost ends, and what has not begun is skipped with the reason',
  async (t) => {
    const { claimOne, finish, show } = await budgeted(t, 5);
    await finish(await claimOne(), 0.4);
    await finish(await claimOne(), 0.599999999);
    t.match(await show(), { state: 'running', cost_usd: 0.999999999 });
    const [third, underWay] = [await claimOne(), await claimOne()];
    await finish(third!, 0.000000001);
    t.match(await show(), { state: 'budget', cost_usd: 1 });
    t.equal((await finish(underWay!, 0.3)).state, 'completed', 'what is under way is finished');
    const last = await finish(await claimOne(), 0.3);
    t.match(last, { state: 'skipped', errorCode: 'run_budget_spent' });
    t.match(await show(), { state: 'budget', completed: 4, skipped: 1, pending: 0, cost_usd: 1.3 });
  },
);

t.test('what a run left for want of money is scored by another one, and by no third', async (t) => {
  const { evaluator, run, claimOne, finish, show } = await budgeted(t, 4, 0.5);
  const dry = (body: object = {}) => api.make(runPath(evaluator), { filter: 'all', dryRun: true, ...body });
  await finish(await claimOne(), 0.5);
  const left = await claimOne();
  for (const job of [left, await claimOne()]) t.equal((await finish(job, 0)).state, 'skipped');
  t.match(await dry(), { matching: 4, already_scored: 2, estimated_cost_usd: 1 });
  const other = await start(evaluator, { maxCost: 10 });
  await scheduleAll();
  t.match(await get(evaluator, other), { scheduled: 2, pending: 2, skipped: 0 });
  t.match(await dry(), { already_scored: 4, estimated_cost_usd: 0 });
  // One of the first run was pending meanwhile, and stays its own.
  const next = [await claimOne(), await claimOne(), await claimOne()];
  t.equal(next.filter(({ runId }) => runId === run.id).length, 1);
  await settle(
    sql,
    left,
    nextState({ outcome: { state: 'skipped', reason: 'truncated', message: '' }, use: null }, 1),
    null,
  );
  for (const job of next) await finish(job, 0.1);
  t.match(await get(evaluator, other), { state: 'completed', completed: 2, cost_usd: 0.2 });
  t.match(await show(), { state: 'budget', completed: 1, skipped: 1 });
  const third = await start(evaluator, {});
  await scheduleAll();
  t.match(await get(evaluator, third), { scheduled: 1 }, 'the one that was left last');
});

t.test('a run whose budget is spent schedules no further page, and cannot be resumed', async (t) => {
  const { evaluator, run, claimOne, finish, show } = await budgeted(t, 3, 0.1);
  await sql`update assay.evaluation_runs set state = 'running' where run_id = ${run.id}`;
  await finish(await claimOne(), 0.2);
  t.equal((await show()).state, 'budget');
  t.equal(await scheduleNextPage(sql, silentLog), null);
  for (const what of ['resume', 'pause', 'cancel']) {
    t.equal(
      (await api.call(`${runPath(evaluator)}/${run.id}/${what}`, { method: 'POST' })).status,
      409,
      what,
    );
  }
});

t.test('a settling that is repeated, or comes after the lease was lost, is charged once', async (t) => {
  const { run, use, claimOne } = await budgeted(t, 2, 10);
  const job = await claimOne();
  const spent = use(3 * USD_NANO);
  const next = nextState(
    {
      outcome: { state: 'completed', score: 1, label: null, reasoning: null, traces: null, flags: [] },
      use: null,
    },
    1,
  );
  const settleIt = () => settle(sql, job, next, spent);
  await Promise.all([settleIt(), settleIt(), settleIt()]);
  await settle(sql, { ...job, claim: job.claim - 1 }, next, use(2 * USD_NANO));
  const [row] = await sql`select spent_nano from assay.evaluation_runs where run_id = ${run.id}`;
  t.equal(Number(row!.spent_nano), 5 * USD_NANO);
});

t.test('evaluations of one run that fail and succeed at once are all charged', async (t) => {
  const { run, use, claimOne } = await budgeted(t, 12, 100);
  const pool = world.connect(6);
  const jobs = [];
  for (let n = 0; n < 12; n += 1) jobs.push(await claimOne());
  const failed = nextState(
    {
      outcome: {
        state: 'failed',
        code: 'judge_timeout',
        message: '',
        retry: 'later',
        retryAfterMs: null,
        pause: null,
        traces: null,
      },
      use: null,
    } as never,
    1,
  );
  const done = nextState(
    {
      outcome: { state: 'completed', score: 1, label: null, reasoning: null, traces: null, flags: [] },
      use: null,
    },
    1,
  );
  await Promise.all(jobs.map((job, n) => settle(pool, job, n % 2 === 0 ? failed : done, use(USD_NANO))));
  const [row] = await sql`select spent_nano from assay.evaluation_runs where run_id = ${run.id}`;
  t.equal(Number(row!.spent_nano), 12 * USD_NANO);
});

t.test('samples and costs are refused where they are out of bounds or do not belong', async (t) => {
  const python = await make();
  const judge = await make(BOOLEAN);
  const refused: [Evaluator, object, RegExp][] = [
    [python, { sample: { n: 0 } }, /sample\.n must be at least 1/],
    [python, { sample: { n: 1.5 } }, /sample\.n/],
    [python, { sample: { n: 1_000_001 } }, /sample\.n must be at most 1000000/],
    [python, { sample: {} }, /sample\.n is required/],
    [python, { sample: { n: 1, seed: 'x' } }, /sample\.seed/],
    [python, { sample: { n: 1, seed: -1 } }, /sample\.seed/],
    [python, { sample: { n: 1, size: 1 } }, /size/],
    [python, { sample: { n: 5 }, limit: 5 }, /limit and sample exclude each other/],
    [python, { maxCost: 1 }, /maxCost does not belong to the scoring_type PYTHON/],
    [judge, { maxCost: 0 }, /maxCost/],
    [judge, { maxCost: 0.1234567891 }, /maxCost must have at most nine decimals/],
    [judge, { maxCost: '1' }, /maxCost/],
  ];
  for (const [evaluator, body, message] of refused) {
    const answer = await api.call(runPath(evaluator), { body: { filter: 'all', ...body } });
    t.equal(answer.status, 400, JSON.stringify(body));
    t.match(answer.body.error, message);
  }
});
