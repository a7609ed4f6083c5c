/** Comparison of experiments: what is measured is written to the tables, as the evaluators and ingest write it. */
import t from 'tap';
import type { ComparisonJson, MetricComparisonJson } from '#core/contracts/comparison.ts';
import type { GateJson } from '#core/contracts/gate.ts';
import { BOOLEAN, PYTHON, RANGE, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const api = await startEvaluatorApi(t);
const { sql } = api.database;
const { organizationId } = api.own;

type Answer = {
  /** Null: its evaluation failed. */
  score: number | null;
  cost?: number;
  latency?: number;
  isError?: boolean;
};

async function dataset(items: number, clusterOf: (index: number) => string | undefined = () => undefined) {
  const { id } = await api.make<{ id: string }>('/v1/dataset', { name: crypto.randomUUID() });
  await api.make(`/v1/dataset/${id}/items`, {
    items: Array.from({ length: items }, (_, index) => ({
      externalId: `item ${String(index).padStart(3, '0')}`,
      request: { model: 'gpt-4o', messages: [{ role: 'user', content: `Question ${index}` }] },
      ...(clusterOf(index) !== undefined && { cluster: clusterOf(index) }),
    })),
  });
  return id;
}

/** Makes an experiment that was answered so, by the number of the item in the order of its names. */
async function answered(
  datasetId: string,
  evaluatorIds: string[],
  answers: Answer[],
  scoredBy = evaluatorIds,
): Promise<string> {
  const { id } = await api.make<{ id: string }>('/v1/experiment', {
    name: 'Answered',
    datasetId,
    target: { kind: 'external' },
    evaluatorIds,
  });
  const items = await sql<{ id: string }[]>`
    select item_id as id from assay.dataset_items
     where dataset_id = ${datasetId} and to_version is null order by external_id`;
  const requests = await insertRequests(
    sql,
    organizationId,
    answers.map(({ cost = 1_000, latency = 100 }) => ({
      cost_nano: cost,
      latency_ms: latency,
      total_tokens: 10,
    })),
  );
  for (const [index, { score, isError = false }] of answers.entries()) {
    const { request_id, created_at } = requests[index]!;
    await sql`
      update assay.experiment_runs
         set state = ${isError ? 'error' : 'completed'}, request_id = ${isError ? null : request_id}, finished_at = now()
       where experiment_id = ${id} and item_id = ${items[index]!.id}`;
    for (const evaluatorId of isError ? [] : scoredBy) {
      await sql`
        insert into assay.evaluations
          (organization_id, evaluator_id, version, created_at, request_id, run_id, lane, priority, due_at, scheduled_at,
           state, score, error_code, finished_at)
        values (${organizationId}, ${evaluatorId}, 1, ${created_at}, ${request_id}, ${id}, 'python', 2, now(), now(),
                ${score === null ? 'error' : 'completed'}, ${score}, ${score === null ? 'judge_refused' : null}, now())`;
    }
  }
  return id;
}

/** Has an evaluator grade answers that people rated. */
async function rated(evaluatorId: string, given: { isGood: boolean; score: number }[]): Promise<void> {
  const rows = await insertRequests(
    sql,
    organizationId,
    given.map(({ isGood }) => ({ feedback_rating: isGood, feedback_created_at: new Date() })),
  );
  for (const [index, { score }] of given.entries()) {
    await sql`
      insert into assay.evaluations
        (organization_id, evaluator_id, version, created_at, request_id, lane, priority, due_at, scheduled_at, state, score,
         finished_at)
      values (${organizationId}, ${evaluatorId}, 1, ${rows[index]!.created_at}, ${rows[index]!.request_id}, 'python', 2,
              now(), now(), 'completed', ${score}, now())`;
  }
}

const compare = (body: object) => api.make<ComparisonJson>('/v1/experiment/compare', body);
const metricOf = ({ candidates }: ComparisonJson, name: string, candidate = 0): MetricComparisonJson =>
  candidates[candidate]!.metrics.find((one) => one.name === name || one.metric === name)!;
const evaluator = (name: string) =>
  api.make<{ id: string }>('/v1/evaluator', { name, ...PYTHON }).then(({ id }) => id);

t.test(
  'ones and zeros are compared by the pairs that differ, with their interval, and the losses come first',
  async (t) => {
    const helpful = await evaluator('helpful');
    const datasetId = await dataset(40);
    // 20 items are good on both sides, 15 on the candidate's alone, 2 on the baseline's alone, 3 on none.
    const before = Array.from({ length: 40 }, (_, index) => ({ score: index < 22 ? 1 : 0 }));
    const after = Array.from({ length: 40 }, (_, index) => ({
      score: index < 20 || (index >= 22 && index < 37) ? 1 : 0,
    }));
    const baseline = await answered(datasetId, [helpful], before);
    const candidate = await answered(datasetId, [helpful], after);
    const metric = metricOf(await compare({ baseline, candidates: [candidate] }), 'helpful');
    t.match(metric, {
      metric: 'score',
      kind: 'binary',
      pairs: 40,
      baseline_mean: 22 / 40,
      candidate_mean: 35 / 40,
      table: { both: 20, baseline_only: 2, candidate_only: 15, neither: 3 },
      p_method: 'mcnemar mid-p',
      interval: { method: 'newcombe' },
      verdict: 'better',
    });
    t.ok(Math.abs(metric.difference! - 13 / 40) < 1e-12);
    // Twice the tail beyond 2 of 17 with half of its first step: (1 + 17 + 136 / 2) / 2^17 · 2.
    t.ok(Math.abs(metric.p_value! - (2 * (1 + 17 + 136 / 2)) / 2 ** 17) < 1e-12);
    t.ok(metric.interval!.low > 0 && metric.interval!.high < 1);
    t.same(
      metric.regressions.map(({ external_id, baseline, candidate }) => [external_id, baseline, candidate]),
      [
        ['item 020', 1, 0],
        ['item 021', 1, 0],
      ],
    );
    t.ok(
      metric.regressions.every(
        (one) => one.baseline_request_id !== null && one.candidate_request_id !== null,
      ),
    );
  },
);

t.test('cost, latency and errors are compared as well, and less of them is better', async (t) => {
  const datasetId = await dataset(30);
  const before = Array.from({ length: 30 }, (_, index) => ({
    score: 1,
    cost: 2_000_000 + index,
    latency: 300,
  }));
  const after = before.map((_, index) => ({
    score: 1,
    cost: 1_000_000 + 7 * index,
    latency: 400 + index,
    isError: index === 0,
  }));
  const comparison = await compare({
    baseline: await answered(datasetId, [], before),
    candidates: [await answered(datasetId, [], after)],
  });
  t.match(metricOf(comparison, 'cost_usd'), {
    verdict: 'better',
    pairs: 29,
    missing_candidate: 1,
    direction: 'lower',
  });
  t.match(metricOf(comparison, 'latency_ms'), { verdict: 'worse' });
  t.match(metricOf(comparison, 'errors'), { pairs: 30, candidate_mean: 1 / 30, verdict: 'undecided' });
  t.equal(metricOf(comparison, 'latency_ms').regressions.at(0)!.external_id, 'item 029');
});

t.test('items of one cluster count as one, and a margin allows a loss that is smaller', async (t) => {
  const helpful = await evaluator('clustered');
  const datasetId = await dataset(60, (index) => `talk ${index % 6}`);
  const before = Array.from({ length: 60 }, (_, index) => ({ score: ((index * 7) % 10) / 10 }));
  const after = before.map(({ score }, index) => ({
    score: score + (index % 6 === 0 ? 0.05 : 0.001 * (index % 5)),
  }));
  const [baseline, candidate] = [
    await answered(datasetId, [helpful], before),
    await answered(datasetId, [helpful], after),
  ];
  const clustered = metricOf(await compare({ baseline, candidates: [candidate], margin: 0.1 }), 'clustered');
  t.match(clustered, { groups: 6, pairs: 60 });
  const alone = metricOf(await compare({ baseline, candidates: [candidate], cluster: 'none' }), 'clustered');
  t.match(alone, { groups: 60 });
  const width = ({ interval }: MetricComparisonJson) => interval!.high - interval!.low;
  t.ok(width(clustered) > width(alone), 'fewer independent groups say less');
  t.ok(['better', 'not_worse'].includes(clustered.verdict), clustered.verdict);
});

t.test('a gate passes nothing for answers whose evaluation failed, unless a rule allows them', async (t) => {
  const careful = await evaluator('careful');
  const datasetId = await dataset(40);
  const before = Array.from({ length: 40 }, (_, index) => ({ score: index % 4 === 0 ? 0 : 1 }));
  // One answer failed, and the judge refuses two that would have been worse.
  const after = before.map((answer, index) => {
    if (index === 1) return { ...answer, isError: true };
    return index === 2 || index === 3 ? { score: null } : { score: 1 };
  });
  const baseline = await answered(datasetId, [careful], before);
  const candidate = await answered(datasetId, [careful], after);
  await sql`update assay.experiments set state = 'completed' where experiment_id in ${sql([baseline, candidate])}`;
  t.match(metricOf(await compare({ baseline, candidates: [candidate] }), 'careful'), {
    pairs: 37,
    missing_candidate: 3,
    ungraded_baseline: 0,
    ungraded_candidate: 2,
  });
  t.match(metricOf(await compare({ baseline, candidates: [candidate] }), 'cost_usd'), {
    ungraded_candidate: 0,
  });
  const gate = (...rules: string[]) =>
    api.make<GateJson>(`/v1/experiment/${candidate}/gate`, {
      baseline,
      rules: ['careful not-worse 0.1', 'errors <= 5%', ...rules],
    });
  const withheld = await gate();
  t.match(withheld, {
    outcome: 'undecided',
    rules: [
      {
        outcome: 'undecided',
        sentence: `2 of 39 answers have no grade (POST /v1/evaluation/query with the runId ${candidate} tells why)`,
      },
      { outcome: 'pass' },
    ],
  });
  t.match(withheld.markdown, '2 of 39 answers have no grade');
  t.match(withheld.junit, '2 of 39 answers have no grade');
  const failed = await api.make<object[]>('/v1/evaluation/query', { runId: candidate, state: 'error' });
  t.equal(failed.length, 2, 'where the sentence says');
  t.match(await gate('ungraded <= 6%'), { outcome: 'pass' });
  t.match(await gate('ungraded <= 1'), { outcome: 'fail' });
  for (const { request_id } of failed as { request_id: string }[])
    t.equal((await api.call(`/v1/request/${request_id}`, { method: 'DELETE' })).status, 200);
  t.match(await gate(), { outcome: 'pass' }, 'what was erased cannot be graded again');
});

t.test(
  'a candidate whose ratings are nearly all equal is not worse, by the scale of its evaluator',
  async (t) => {
    const { id: rating } = await api.make<{ id: string }>('/v1/evaluator', { name: 'rating', ...RANGE });
    const datasetId = await dataset(100);
    const scores = (changed: number) =>
      Array.from({ length: 100 }, (_, index) => ({ score: index < changed ? 4 : 5 }));
    const baseline = await answered(datasetId, [rating], scores(0));
    const compared = async (changed: number) => {
      const candidate = await answered(datasetId, [rating], scores(changed));
      const { interval, verdict } = metricOf(
        await compare({ baseline, candidates: [candidate], margin: 0.25 }),
        'rating',
      );
      // An organization has at most twenty that are not over.
      await sql`update assay.experiments set state = 'completed' where experiment_id in ${sql([baseline, candidate])}`;
      return [interval!.method, verdict];
    };
    t.same(await compared(0), ['unanimous', 'not_worse']);
    t.same(await compared(3), ['bounded', 'not_worse']);
    t.same(await compared(20), ['bca', 'worse']);
  },
);

t.test('rules that bound what was measured make no other rule of a gate harder to pass', async (t) => {
  const bold = await evaluator('bold');
  const datasetId = await dataset(40);
  const scores = (passing: number) =>
    Array.from({ length: 40 }, (_, index) => ({ score: index < passing ? 1 : 0 }));
  const baseline = await answered(datasetId, [bold], scores(10));
  const candidate = await answered(datasetId, [bold], scores(16));
  await sql`update assay.experiments set state = 'completed' where experiment_id in ${sql([baseline, candidate])}`;
  const gate = await api.make<GateJson>(`/v1/experiment/${candidate}/gate`, {
    baseline,
    rules: ['bold better', 'cost <= 1.1x', 'tokens <= 1.1x'],
  });
  const metric = metricOf(gate.comparison, 'bold');
  t.equal(metric.adjusted_p_value, metric.p_value);
  t.match(gate, { outcome: 'pass' });
});

t.test('items that were changed in between are not compared, nor judged in pairs', async (t) => {
  const lasting = await evaluator('lasting');
  const datasetId = await dataset(20);
  const scores = (score: number) => Array.from({ length: 20 }, () => ({ score }));
  const baseline = await answered(datasetId, [lasting], scores(0));
  const item = (number: string, content: string, more: object = {}) => ({
    externalId: `item ${number}`,
    request: { model: 'gpt-4o', messages: [{ role: 'user', content }] },
    ...more,
  });
  await api.make(`/v1/dataset/${datasetId}/items`, {
    items: [
      item('000', 'Another question'),
      item('001', 'Question 1', { expected: 'Yes' }),
      item('002', 'Question 2', { metadata: { by: 'Ada' }, split: 'test' }),
    ],
  });
  const candidate = await answered(datasetId, [lasting], scores(1));
  await sql`update assay.experiments set state = 'completed' where experiment_id in ${sql([baseline, candidate])}`;
  const comparison = await compare({ baseline, candidates: [candidate] });
  t.equal(comparison.candidates[0]!.changed_items, 2);
  t.match(metricOf(comparison, 'lasting'), { pairs: 18, missing_baseline: 0, missing_candidate: 0 });
  t.match(metricOf(comparison, 'cost_usd'), { pairs: 18 });
  t.match(metricOf(comparison, 'lasting').candidate_alone, { items: 20, mean: 1, ungraded: 0 });
  const gate = await api.make<GateJson>(`/v1/experiment/${candidate}/gate`, {
    baseline,
    rules: ['lasting better'],
  });
  t.match(
    gate.rules[0]!.sentence,
    "not compared are 2 items that the dataset's versions of both have differently",
  );
  const { id: preferring } = await api.make<{ id: string }>('/v1/evaluator', {
    name: 'preferring',
    scoring_type: 'LLM-PAIRWISE',
    llm_template: { model: 'gpt-4o-mini', prompt: 'Which is better?' },
  });
  const pairs = await api.make(`/v1/evaluator/${preferring}/pairwise`, { baseline, candidate, dryRun: true });
  t.match(pairs, { pairs: 18 });
});

t.test('a difference is corrected by how often people agree with the evaluator', async (t) => {
  const strict = await evaluator('strict');
  const datasetId = await dataset(40);
  const scores = (passing: number) =>
    Array.from({ length: 40 }, (_, index) => ({ score: index < passing ? 1 : 0 }));
  const baseline = await answered(datasetId, [strict], scores(10));
  const candidate = await answered(datasetId, [strict], scores(24));
  const corrected = async () => metricOf(await compare({ baseline, candidates: [candidate] }), 'strict');
  t.match(await corrected(), { corrected: null, corrected_note: 'people rated none of the answers' });
  // It passes 40 of 50 good answers and 5 of 50 bad ones: its skill is 0.8 + 0.9 - 1.
  await rated(strict, [
    ...Array.from({ length: 50 }, (_, index) => ({ isGood: true, score: index < 40 ? 1 : 0 })),
    ...Array.from({ length: 50 }, (_, index) => ({ isGood: false, score: index < 5 ? 1 : 0 })),
  ]);
  const { difference, corrected: found, corrected_note } = await corrected();
  t.equal(difference, 14 / 40);
  t.equal(corrected_note, null);
  t.ok(Math.abs(found!.difference - 14 / 40 / 0.7) < 1e-12, String(found!.difference));
  t.ok(found!.low < found!.difference && found!.difference < found!.high && found!.high <= 1);
  t.equal(metricOf(await compare({ baseline, candidates: [candidate] }), 'cost_usd').corrected, null);
});

t.test('metrics can be chosen, and p is adjusted for these alone', async (t) => {
  const chosen = await evaluator('chosen');
  const datasetId = await dataset(40);
  const scores = (passing: number) =>
    Array.from({ length: 40 }, (_, index) => ({ score: index < passing ? 1 : 0 }));
  const baseline = await answered(datasetId, [chosen], scores(10));
  const candidate = await answered(datasetId, [chosen], scores(20));
  const [all, one] = [
    await compare({ baseline, candidates: [candidate] }),
    await compare({ baseline, candidates: [candidate], metrics: ['CHOSEN'] }),
  ];
  t.same(
    one.candidates[0]!.metrics.map(({ name }) => name),
    ['chosen'],
  );
  const [metric] = one.candidates[0]!.metrics;
  t.equal(metric!.adjusted_p_value, metric!.p_value);
  t.ok(metricOf(all, 'chosen').adjusted_p_value! > metric!.p_value!);
  const refused = await api.call('/v1/experiment/compare', {
    body: { baseline, candidates: [candidate], metrics: ['kind'] },
  });
  t.match(refused, {
    status: 400,
    body: {
      error:
        'The metric "kind" cannot be compared: there are "chosen", "cost_usd", "latency_ms", "tokens", "errors"',
    },
  });
});

t.test('the same comparison again is the same, to the digit', async (t) => {
  const helpful = await evaluator('repeated');
  const datasetId = await dataset(25);
  const answers = (shift: number) =>
    Array.from({ length: 25 }, (_, index) => ({ score: (((index + shift) * 13) % 25) / 25 }));
  const body = {
    baseline: await answered(datasetId, [helpful], answers(0)),
    candidates: [await answered(datasetId, [helpful], answers(3))],
  };
  t.same(await compare(body), await compare(body));
});

t.test(
  'one comparison of an organization is made at a time, and no more than eight wait for it',
  async (t) => {
    const datasetId = await dataset(2);
    const baseline = await answered(datasetId, [], [{ score: 1 }, { score: 1 }]);
    const candidates = [await answered(datasetId, [], [{ score: 1 }, { score: 1 }])];
    const answers = await sql.begin(async (tx) => {
      // The first one waits for this.
      await tx`lock table assay.experiments in access exclusive mode`;
      const calls = Array.from({ length: 10 }, () =>
        api.call('/v1/experiment/compare', { body: { baseline, candidates } }),
      );
      const refused = await Promise.race(calls);
      t.match([refused.status, refused.body], [429, { error: /8 comparisons waiting/ }]);
      return calls;
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    t.same(
      statuses.filter((status) => status !== 429),
      new Array(9).fill(200),
    );
  },
);

t.test('what cannot be compared is refused, or left out with the reason', async (t) => {
  const helpful = await evaluator('left out');
  const datasetId = await dataset(2);
  const one = await answered(datasetId, [helpful], [{ score: 1 }, { score: 1 }]);
  const other = await answered(datasetId, [], [{ score: 1 }, { score: 1 }]);
  const refused = async (body: object, status: number, error: RegExp, key = api.own.key) => {
    const answer = await api.call('/v1/experiment/compare', { body, key });
    t.match([answer.status, answer.body.error], [status, error]);
  };
  t.match((await compare({ baseline: one, candidates: [other] })).candidates[0]!.left_out, [
    { evaluator_id: helpful, reason: 'The candidate does not use it' },
  ]);
  t.match((await compare({ baseline: other, candidates: [one] })).candidates[0]!.left_out, [
    { evaluator_id: helpful, reason: 'The baseline does not use it' },
  ]);
  await refused({ baseline: one, candidates: [one] }, 400, /different experiments/);
  const elsewhere = await answered(await dataset(2), [], [{ score: 1 }, { score: 1 }]);
  await refused({ baseline: one, candidates: [elsewhere] }, 400, /over the dataset of the baseline/);
  await refused({ baseline: one, candidates: [other] }, 404, /no experiment/, api.other.key);
  await refused({ baseline: one, candidates: [] }, 400, /candidates/);
});

t.test('the criteria of a rubric are compared in its place, each as an evaluator of its own', async (t) => {
  const llm_template = { ...BOOLEAN.llm_template, prompt: 'Is it good?' };
  const make = (name: string, body: object) => api.make<{ id: string }>('/v1/evaluator', { name, ...body });
  const polite = await make('polite criterion', { ...BOOLEAN, llm_template });
  const right = await make('right criterion', { ...BOOLEAN, llm_template });
  const rubric = await make('rubric of two', {
    scoring_type: 'LLM-RUBRIC',
    llm_template: { ...llm_template, criteria: [{ id: polite.id }, { id: right.id }] },
  });
  const datasetId = await dataset(4);
  const answers = (...scores: number[]) => scores.map((score) => ({ score }));
  // On one side the rubric judged, on the other each criterion alone.
  const baseline = await answered(datasetId, [rubric.id], answers(0, 0, 1, 1), [polite.id, right.id]);
  const candidate = await answered(datasetId, [right.id, polite.id], answers(1, 0, 1, 1));
  const comparison = await compare({ baseline, candidates: [candidate] });
  for (const name of ['polite criterion', 'right criterion']) {
    t.match(metricOf(comparison, name), { pairs: 4, baseline_mean: 0.5, candidate_mean: 0.75 });
  }
  t.equal(metricOf(comparison, 'rubric of two'), undefined);
  t.same(comparison.candidates[0]!.left_out, []);
});
