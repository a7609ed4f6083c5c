/** Pairwise judging over the API: what is scheduled, what it would cost, and the win rate of both orders. */
import t from 'tap';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import type { PairwiseDryRunJson, WinRateJson } from '#core/contracts/pairwise.ts';
import { BOOLEAN, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const api = await startEvaluatorApi(t);
const { sql } = api.database;
const { organizationId } = api.own;

type Run = { id: string; state: string; scheduled: number; completed: number; experiments: object | null };
type Result = { run: Run; result: WinRateJson | null };

let made = 0;
const pairwise = (llm_template: object = {}) => {
  made += 1;
  return api.make<{ id: string; llm_template: object }>('/v1/evaluator', {
    name: `Pairs ${made}`,
    scoring_type: 'LLM-PAIRWISE',
    llm_template: { model: 'gpt-4o', prompt: 'Which is clearer?', ...llm_template },
  });
};

async function dataset(items: number): Promise<string> {
  const { id } = await api.make<{ id: string }>('/v1/dataset', { name: crypto.randomUUID() });
  await api.make(`/v1/dataset/${id}/items`, {
    items: Array.from({ length: items }, (_, index) => ({
      externalId: `item ${index}`,
      request: { model: 'gpt-4o', messages: [{ role: 'user', content: `Question ${index}` }] },
    })),
  });
  return id;
}

/** Makes an experiment whose first `count` items are answered. */
async function answered(datasetId: string, count: number): Promise<string> {
  const { id } = await api.make<{ id: string }>('/v1/experiment', {
    name: 'Answered',
    datasetId,
    target: { kind: 'external' },
  });
  const items = await sql<{ id: string }[]>`
    select item_id as id from assay.dataset_items where dataset_id = ${datasetId} order by external_id limit ${count}`;
  const tokens = { prompt_tokens: 100, completion_tokens: 25, total_tokens: 125 };
  const requests = await insertRequests(
    sql,
    organizationId,
    items.map(() => tokens),
  );
  for (const [index, { id: itemId }] of items.entries()) {
    await sql`
      update assay.experiment_runs set state = 'completed', request_id = ${requests[index]!.request_id}, finished_at = now()
       where experiment_id = ${id} and item_id = ${itemId}`;
  }
  return id;
}

async function sides(items: number, candidateItems = items) {
  const datasetId = await dataset(items);
  return { baseline: await answered(datasetId, items), candidate: await answered(datasetId, candidateItems) };
}

/** Ends the judgments of a run: for each pair what the judge preferred with the baseline first, and with the candidate first. */
async function settle(runId: string, preferences: [number | null, number | null][]): Promise<void> {
  const rows = await sql<{ id: string; request: string; isBaselineFirst: boolean }[]>`
    select evaluation_id as id, request_id as request, is_baseline_first as "isBaselineFirst"
      from assay.evaluations where run_id = ${runId} order by request_id`;
  const requests = [...new Set(rows.map(({ request }) => request))];
  for (const { id, request, isBaselineFirst } of rows) {
    const score = preferences[requests.indexOf(request)]![isBaselineFirst ? 0 : 1];
    await sql`
      update assay.evaluations set state = ${score === null ? 'error' : 'completed'}, score = ${score}, finished_at = now(),
             cost_nano = 4000000, judge_calls = 1
       where evaluation_id = ${id}`;
  }
}

t.test('each pair is judged in both orders, once, however often it is started', async (t) => {
  const { id } = await pairwise();
  const of = await sides(3, 2);
  const run = await api.make<Run>(`/v1/evaluator/${id}/pairwise`, of);
  t.match(run, { state: 'running', scheduled: 4, experiments: of });
  const rows = await sql`
    select request_id, baseline_id, count(*)::int4 as count, count(distinct is_baseline_first)::int4 as orders
      from assay.evaluations where run_id = ${run.id} and lane = 'remote' and state = 'pending' group by 1, 2`;
  t.equal(rows.length, 2);
  t.match(rows, [
    { count: 2, orders: 2 },
    { count: 2, orders: 2 },
  ]);
  const again = await api.make<Run>(`/v1/evaluator/${id}/pairwise`, of);
  t.match(again, { scheduled: 0, state: 'completed' });
  type Shown = { request_id: string; pair: { baseline_request_id: string; is_baseline_first: boolean } };
  const shown = await api.make<Shown[]>('/v1/evaluation/query', { runId: run.id });
  t.same(
    shown.map(({ request_id, pair }) => [request_id, pair.baseline_request_id]).sort(),
    rows.flatMap((row) => Array(2).fill([row.request_id, row.baseline_id])).sort(),
  );
});

t.test('judgments that a run left for want of money are made by the next one', async (t) => {
  const { id } = await pairwise();
  const of = await sides(2);
  const path = `/v1/evaluator/${id}/pairwise`;
  const run = await api.make<Run>(path, of);
  await settle(run.id, [
    [1, 1],
    [0, 0],
  ]);
  await sql`
    update assay.evaluations set state = 'skipped', score = null, error_code = 'run_budget_spent'
     where run_id = ${run.id} and is_baseline_first`;
  t.match(await api.make(path, { ...of, dryRun: true }), { judgments: 4, already_judged: 2 });
  t.match(await api.make<Run>(path, of), { scheduled: 2, pending: 2 });
});

t.test('an estimate is by the tokens of the answers at first, and then by what judgments cost', async (t) => {
  const { id } = await pairwise();
  const of = await sides(4);
  const path = `/v1/evaluator/${id}/pairwise`;
  const before = await api.make<PairwiseDryRunJson>(path, { ...of, dryRun: true });
  t.match(before, { pairs: 4, judgments: 8, already_judged: 0 });
  // 550 tokens in, and those of the prompt, at 2.5 and 150 out at 10 dollars a million, eight times.
  const least = 8 * (550 * 2.5e-6 + 150 * 1e-5);
  t.ok(before.estimated_cost_usd! > least && before.estimated_cost_usd! < 1.05 * least);
  const [counted] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from assay.evaluations where evaluator_id = ${id}`;
  t.equal(counted!.count, 0, 'nothing is scheduled');
  const run = await api.make<Run>(path, of);
  await settle(run.id, Array(4).fill([1, 1]));
  const other = await sides(1);
  t.match(await api.make(path, { ...other, dryRun: true }), { judgments: 2, estimated_cost_usd: 0.008 });
  t.match(await api.make(path, { ...of, dryRun: true }), { already_judged: 8, estimated_cost_usd: 0 });
});

t.test(
  'orders that disagree are ties, and the bias for a position is shown beside the win rate',
  async (t) => {
    const evaluator = await pairwise();
    const of = await sides(6);
    const run = await api.make<Run>(`/v1/evaluator/${evaluator.id}/pairwise`, of);
    t.same((await api.make<Result>(`/v1/evaluator/${evaluator.id}/pairwise/${run.id}`)).result?.pairs, 0);
    // Two wins, a loss, a tie in both orders, a pair whose first answer wins in both orders, and one with a failure.
    await settle(run.id, [
      [1, 1],
      [1, 1],
      [0, 0],
      [0.5, 0.5],
      [0, 1],
      [1, null],
    ]);
    const { result, run: ended } = await api.make<Result>(`/v1/evaluator/${evaluator.id}/pairwise/${run.id}`);
    t.match(ended, { state: 'completed', completed: 11 });
    t.match(result, {
      evaluator_id: evaluator.id,
      version: 1,
      pairs: 5,
      incomplete: 1,
      wins: 2,
      ties: 2,
      losses: 1,
      rate: 0.6,
      position: { inconsistent: 1, first: 5, second: 4, first_rate: { value: 5 / 9 } },
    });
    t.ok(result!.interval!.low < 0.6 && result!.interval!.high > 0.6);
    const compared = await api.make<ComparisonJson>('/v1/experiment/compare', {
      baseline: of.baseline,
      candidates: [of.candidate],
    });
    t.strictSame(compared.candidates[0]!.win_rates, [result]);
    const swapped = await api.make<ComparisonJson>('/v1/experiment/compare', {
      baseline: of.candidate,
      candidates: [of.baseline],
    });
    t.same(swapped.candidates[0]!.win_rates, [], 'the pair was judged in one direction');
  },
);

t.test('a paused run over pairs goes on where it stopped, and scores no other requests', async (t) => {
  const { id } = await pairwise();
  const run = await api.make<Run>(`/v1/evaluator/${id}/pairwise`, await sides(2));
  const path = `/v1/evaluator/${id}/run/${run.id}`;
  t.match(await api.make(`${path}/pause`, undefined, 'POST'), { state: 'paused', pending: 4 });
  t.match(await api.make(`${path}/resume`, undefined, 'POST'), { state: 'running', pending: 4 });
  const [stored] = await sql`select state from assay.evaluation_runs where run_id = ${run.id}`;
  t.equal(stored!.state, 'scheduled', 'the worker walks no requests for it');
  t.match(await api.make(`${path}/cancel`, undefined, 'POST'), { state: 'cancelled', cancelled: 4 });
});

t.test('what cannot be judged in pairs is refused with the reason', async (t) => {
  const { id } = await pairwise();
  const single = await api.make<{ id: string }>('/v1/evaluator', { name: 'Single', ...BOOLEAN });
  const { baseline, candidate } = await sides(1);
  const other = await sides(1);
  const missing = '5948ec1e-e865-4594-85d2-b5ce10ded460';
  const REFUSALS: [path: string, body: object, status: number, sentence: string | RegExp][] = [
    [`/v1/evaluator/${id}/pairwise`, { baseline, candidate: baseline }, 400, 'must be different experiments'],
    [
      `/v1/evaluator/${id}/pairwise`,
      { baseline, candidate: other.candidate },
      400,
      'must be over the dataset',
    ],
    [`/v1/evaluator/${id}/pairwise`, { baseline, candidate: missing }, 404, missing],
    [`/v1/evaluator/${id}/pairwise`, { baseline }, 400, 'candidate is required'],
    [
      `/v1/evaluator/${single.id}/pairwise`,
      { baseline, candidate },
      400,
      'this one is of the type LLM-BOOLEAN',
    ],
    [`/v1/evaluator/${id}/run`, { filter: 'all' }, 400, 'judges the pairs of two experiments only'],
    [`/v1/evaluator/${id}/onlineEvaluators`, { config: { sampleRate: 1 } }, 400, 'judges the pairs of two'],
    [
      '/v1/evaluator',
      { name: 'x', scoring_type: 'LLM-PAIRWISE', llm_template: { model: 'gpt-4o', prompt: '{{output}}?' } },
      400,
      'must have no variables',
    ],
    [
      '/v1/evaluator',
      {
        name: 'x',
        scoring_type: 'LLM-PAIRWISE',
        llm_template: { model: 'gpt-4o', prompt: 'a', examples: [] },
      },
      400,
      'llm_template.examples does not belong',
    ],
  ];
  for (const [path, body, status, sentence] of REFUSALS) {
    const reply = await api.call(path, { body });
    t.equal(reply.status, status, `${path} ${JSON.stringify(body)}`);
    t.match((reply.body as { error: string }).error, sentence);
  }
  const [run] = await sql<{ dataset_id: string }[]>`
    select dataset_id from assay.experiments where experiment_id = ${baseline}`;
  const refused = await api.call('/v1/experiment', {
    body: { name: 'x', datasetId: run!.dataset_id, target: { kind: 'replay' }, evaluatorIds: [id] },
  });
  t.equal(refused.status, 400);
});
