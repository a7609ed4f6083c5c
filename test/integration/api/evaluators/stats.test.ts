import t from 'tap';
import {
  BOOLEAN,
  CHOICE,
  type EvaluatorApi,
  PYTHON,
  RANGE,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';
import { insertEvaluations, type SeedEvaluation } from './seed-evaluations.ts';

type Stats = {
  version: number;
  evaluations: Record<string, unknown>;
  scores: { count: number; mean: number; standard_deviation: number; distribution: { count: number }[] };
  daily: { day: string; count: number; mean: number | null }[];
  judge: Record<string, unknown>;
  agreement: Record<string, unknown>;
  probes: Record<string, Record<string, unknown>>;
};

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const statsOf = (id: string, search = '') => api.make<Stats>(`/v1/evaluator/${id}/stats${search}`);
const scored = (evaluator_id: string, score: number, rest: Partial<SeedEvaluation> = {}): SeedEvaluation => ({
  evaluator_id,
  state: 'completed',
  score,
  ...rest,
});
const keyOf = ({ request_id, created_at }: SeedRequest) => ({ request_id, created_at });
const countsOf = ({ scores }: Stats) => scores.distribution.map(({ count }) => count);

t.test('an evaluator without evaluations has empty statistics', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Idle', ...RANGE });
  const stats = await statsOf(id);
  t.strictSame(stats.evaluations, {
    total: 0,
    by_state: {
      pending: 0,
      running: 0,
      paused: 0,
      completed: 0,
      skipped: 0,
      error: 0,
      dead: 0,
      cancelled: 0,
    },
    errors: {},
    skips: {},
  });
  t.match(stats.scores, { count: 0, mean: null, standard_deviation: null, min: null, max: null });
  t.strictSame(countsOf(stats), Array(10).fill(0));
  t.equal(stats.daily.length, 30);
  t.equal(stats.daily.at(-1)!.day, new Date().toISOString().slice(0, 10));
  t.strictSame(stats.judge, {
    calls: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    cost: 0,
    latency_ms: { total: 0, p50: null, p95: null },
  });
  t.strictSame(stats.agreement, {
    basis: 'feedback',
    basis_note: null,
    criterion_id: null,
    ties: 0,
    threshold: 3,
    count: 0,
    confusion: { true_positive: 0, false_positive: 0, false_negative: 0, true_negative: 0 },
    accuracy: null,
    rated: 0,
    coverage: null,
    kappa: null,
    kappa_interval: null,
    kappa_note: 'There is no kappa: no scored request has been rated',
    true_positive_rate: null,
    true_negative_rate: null,
    pass_rate: null,
    corrected_pass_rate: null,
    corrected_pass_rate_interval: null,
    note: 'There are no scores yet',
  });
  const nothing = { count: 0, mean_absolute_difference: null, flips: 0, flip_rate: null };
  t.strictSame(stats.probes, { repeat: nothing, order: nothing, padding: nothing, injection: nothing });
  const python = await api.make('/v1/evaluator', { name: 'Idle code', ...PYTHON });
  t.strictSame((await statsOf(python.id)).scores.distribution, [], 'whose scores have no bounds yet');
});

t.test(
  'the threshold of a version decides what passes in its statistics, unless the caller names one',
  async (t) => {
    const { id } = await api.make('/v1/evaluator', { name: 'Demanding', ...RANGE, threshold: 4 });
    await api.make(`/v1/evaluator/${id}`, { threshold: null }, 'PUT');
    const given = [{ feedback_rating: true }, { feedback_rating: false }];
    const requests = await insertRequests(api.database.sql, api.own.organizationId, given);
    await insertEvaluations(
      api,
      [1, 2].flatMap((version) =>
        [3.5, 4].flatMap((score, index) => {
          const request = keyOf(requests[index]!);
          return [
            scored(id, score, { ...request, version }),
            scored(id, 4, { ...request, version, probe: 'repeat' }),
          ];
        }),
      ),
    );
    t.match(await statsOf(id, '?version=1'), {
      agreement: {
        threshold: 4,
        pass_rate: { value: 0.5 },
        confusion: { false_negative: 1, false_positive: 1 },
      },
      probes: { repeat: { count: 2, flips: 1 } },
    });
    t.match(await statsOf(id), {
      agreement: {
        threshold: 3,
        pass_rate: { value: 1 },
        confusion: { true_positive: 1, false_positive: 1 },
      },
      probes: { repeat: { count: 2, flips: 0 } },
    });
    t.match(await statsOf(id, '?version=1&threshold=1'), {
      agreement: { threshold: 1, pass_rate: { value: 1 } },
    });
  },
);

t.test('scores of code with categories are counted by label, and pass from their middle', async (t) => {
  const categories = [
    { label: 'bad', score: 0 },
    { label: 'fair', score: 4 },
    { label: 'good', score: 10 },
  ];
  const { id } = await api.make('/v1/evaluator', {
    name: 'Labelled code',
    scoring_type: 'PYTHON',
    code_template: { ...PYTHON.code_template, categories },
  });
  await insertEvaluations(api, [
    scored(id, 0, { label: 'bad' }),
    scored(id, 4, { label: 'fair' }),
    scored(id, 10, { label: 'good' }),
    scored(id, 10, { label: 'good' }),
  ]);
  const { scores, agreement } = await statsOf(id);
  t.strictSame(
    scores.distribution,
    categories.map((category, index) => ({ ...category, count: [1, 1, 2][index] })),
  );
  t.match(agreement, { threshold: 5, pass_rate: { value: 0.5 } });
});

t.test('scores, states, errors and costs are summed; probes and other versions are not', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Summed', ...RANGE });
  const judged = (latency: number) => ({
    judge_calls: 1,
    prompt_tokens: 100,
    completion_tokens: 10,
    cost_nano: 2_000_000,
    judge_latency_ms: latency,
  });
  await insertEvaluations(api, [
    scored(id, 1, judged(100)),
    scored(id, 2, judged(200)),
    scored(id, 3, judged(300)),
    scored(id, 4, judged(400)),
    scored(id, 5, judged(1_000)),
    { evaluator_id: id, state: 'error', error_code: 'judge_malformed', ...judged(50), judge_calls: 2 },
    { evaluator_id: id, state: 'dead', error_code: 'judge_malformed' },
    { evaluator_id: id, state: 'dead', error_code: 'judge_timeout' },
    { evaluator_id: id, state: 'skipped', error_code: 'upstream_error' },
    { evaluator_id: id, state: 'pending', error_code: 'judge_timeout' },
    scored(id, 5, { probe: 'repeat', ...judged(9_000) }),
    scored(id, 5, { version: 2, ...judged(9_000) }),
  ]);
  const stats = await statsOf(id);
  t.strictSame(stats.evaluations, {
    total: 10,
    by_state: {
      pending: 1,
      running: 0,
      paused: 0,
      completed: 5,
      skipped: 1,
      error: 1,
      dead: 2,
      cancelled: 0,
    },
    errors: { judge_malformed: 2, judge_timeout: 1 },
    skips: { upstream_error: 1 },
  });
  t.match(stats.scores, { count: 5, mean: 3, min: 1, max: 5 });
  t.ok(Math.abs(stats.scores.standard_deviation - Math.sqrt(2.5)) < 1e-12);
  t.strictSame(countsOf(stats), [1, 0, 1, 0, 0, 1, 0, 1, 0, 1], 'the greatest score is in the last bucket');
  t.strictSame(stats.judge, {
    calls: 7,
    prompt_tokens: 600,
    completion_tokens: 60,
    cost: 0.012,
    latency_ms: { total: 2_050, p50: 250, p95: 850 },
  });
});

t.test('the cost of a judge is null when no call of it has a known price', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Unpriced', ...RANGE });
  await insertEvaluations(api, [{ ...scored(id, 2), judge_calls: 1, cost_nano: null }]);
  t.match((await statsOf(id)).judge, { calls: 1, cost: null });
  await insertEvaluations(api, [{ ...scored(id, 2), judge_calls: 1, cost_nano: 2_000_000 }]);
  t.match((await statsOf(id)).judge, { calls: 2, cost: 0.002 }, 'of those that have one');
});

t.test('the scores of a boolean or choice evaluator are counted by answer', async (t) => {
  const boolean = await api.make('/v1/evaluator', { name: 'Yes or no', ...BOOLEAN });
  await insertEvaluations(api, [scored(boolean.id, 1), scored(boolean.id, 1), scored(boolean.id, 0)]);
  t.strictSame((await statsOf(boolean.id)).scores.distribution, [
    { label: 'false', score: 0, count: 1 },
    { label: 'true', score: 1, count: 2 },
  ]);
  const llm_template = {
    ...CHOICE.llm_template,
    choices: ['rude', 'cold', { score: 0, description: 'odd' }],
  };
  const choice = await api.make('/v1/evaluator', { name: 'Which', ...CHOICE, llm_template });
  await insertEvaluations(api, [
    scored(choice.id, 0, { label: 'rude' }),
    scored(choice.id, 0, { label: 'odd' }),
    scored(choice.id, 0, { label: 'Odd ' }),
  ]);
  t.strictSame((await statsOf(choice.id)).scores.distribution, [
    { label: 'rude', score: 0, count: 1 },
    { label: 'cold', score: 1, count: 0 },
    { label: 'odd', score: 0, count: 2 },
  ]);
});

t.test('statistics are finite for scores of any size', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Large', ...PYTHON });
  await insertEvaluations(api, [scored(id, 1.7e308), scored(id, 1.7e308), scored(id, -1.7e308)]);
  const { scores, daily } = await statsOf(id);
  t.ok(Math.abs(scores.mean / 1.7e308 - 1 / 3) < 1e-12);
  t.ok(Number.isFinite(scores.standard_deviation) || scores.standard_deviation === null);
  t.strictSame(
    scores.distribution.map(({ count }) => count),
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 2],
  );
  t.ok(Math.abs(daily.at(-1)!.mean! / 1.7e308 - 1 / 3) < 1e-12);
  // A score that vanishes beside the largest is an error of Postgres when it is divided by it.
  const both = await api.make('/v1/evaluator', { name: 'Large and small', ...PYTHON });
  await insertEvaluations(api, [scored(both.id, 1.7e308), scored(both.id, 1e-20)]);
  t.match(await statsOf(both.id), { scores: { mean: 0.85e308, count: 2 } });
  const small = await api.make('/v1/evaluator', { name: 'Small', ...PYTHON });
  await insertEvaluations(api, [scored(small.id, 1e-200), scored(small.id, 3e-200)]);
  t.ok(Math.abs((await statsOf(small.id)).scores.standard_deviation! / (Math.SQRT2 * 1e-200) - 1) < 1e-12);
  const same = await api.make('/v1/evaluator', { name: 'Same', ...PYTHON });
  await insertEvaluations(api, [scored(same.id, 2), scored(same.id, 2)]);
  t.match((await statsOf(same.id)).scores, {
    mean: 2,
    standard_deviation: 0,
    distribution: [{ from: 2, to: 2, count: 2 }],
  });
});

t.test('daily statistics are by the UTC day of the request', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Daily', ...RANGE });
  const midnight = Date.parse(`${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`);
  const at = (ms: number) => ({ created_at: new Date(midnight + ms) });
  const DAY = 86_400_000;
  await insertEvaluations(api, [
    scored(id, 1, at(0)),
    scored(id, 2, at(-1)),
    scored(id, 4, at(-DAY)),
    scored(id, 5, at(-29 * DAY)),
    scored(id, 5, at(-29 * DAY - 1)),
  ]);
  const { daily } = await statsOf(id);
  t.strictSame(
    daily.filter(({ count }) => count > 0).map(({ count, mean }) => [count, mean]),
    [
      [1, 5],
      [2, 3],
      [1, 1],
    ],
  );
  t.equal(daily[0]!.count, 1);
  t.equal(daily.at(-1)!.mean, 1);
});

t.test('agreement is computed over rated requests, the pass rate over all scored ones', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Agreed', ...RANGE });
  // 20 good and 10 bad ones, of which the judge gets 18 and 7 right; 10 without a rating, 6 of them passed.
  const RATED: [rating: boolean | null, score: number, count: number][] = [
    [true, 5, 10],
    [true, 3, 8],
    [true, 2.5, 2],
    [false, 4, 3],
    [false, 1, 7],
    [null, 4, 6],
    [null, 1, 4],
  ];
  for (const [feedback_rating, score, count] of RATED) {
    const rows = await insertRequests(
      api.database.sql,
      api.own.organizationId,
      Array.from({ length: count }, () => ({ feedback_rating })),
    );
    await insertEvaluations(
      api,
      rows.map((row) => scored(id, score, keyOf(row))),
    );
  }
  // 10 more were rated, but have no score: one evaluation failed, 4 were skipped, 5 wait. An unrated one failed too.
  const WITHOUT: [rating: boolean | null, state: string, count: number][] = [
    [true, 'error', 1],
    [false, 'skipped', 4],
    [true, 'pending', 5],
    [null, 'error', 1],
  ];
  for (const [feedback_rating, state, count] of WITHOUT) {
    const given = Array.from({ length: count }, () => ({ feedback_rating }));
    const rows = await insertRequests(api.database.sql, api.own.organizationId, given);
    const unscored = rows.map((row) => ({ evaluator_id: id, state, ...keyOf(row) }));
    await insertEvaluations(api, unscored);
  }
  const { agreement } = await statsOf(id);
  t.match(agreement, {
    threshold: 3,
    count: 30,
    rated: 40,
    coverage: 0.75,
    kappa_note: null,
    confusion: { true_positive: 18, false_positive: 3, false_negative: 2, true_negative: 7 },
    note: null,
  });
  const near = (value: unknown, expected: number) => Math.abs((value as number) - expected) < 1e-4;
  t.ok(near(agreement.accuracy, 25 / 30));
  // Chance: (21 × 20 + 9 × 10) / 900 = 17/30, so kappa is (25/30 − 17/30) / (13/30).
  t.ok(near(agreement.kappa, 8 / 13));
  const rate = (name: string) => agreement[name] as { value: number; low: number; high: number };
  // Wilson's interval by hand: 18 of 20, and 7 of 10.
  t.ok(near(rate('true_positive_rate').value, 0.9) && near(rate('true_positive_rate').low, 0.699));
  t.ok(near(rate('true_negative_rate').value, 0.7) && near(rate('true_negative_rate').high, 0.8922));
  t.ok(near(rate('pass_rate').value, 27 / 40));
  t.ok(near(agreement.corrected_pass_rate, (27 / 40 + 0.7 - 1) / 0.6));
  const interval = (name: string) => agreement[name] as { low: number; high: number };
  // statsmodels 0.15.0, cohens_kappa([[19, 4], [3, 8]]); the R package asht 1.0.1, prevSeSp(27/40, 40, 0.9, 20, 0.7, 10).
  t.ok(near(interval('kappa_interval').low, 0.24202) && near(interval('kappa_interval').high, 0.83906));
  t.ok(near(interval('corrected_pass_rate_interval').low, 0.21844));
  t.ok(near(interval('corrected_pass_rate_interval').high, 0.95347));

  const strict = (await statsOf(id, '?threshold=4.5')).agreement;
  t.match(strict, {
    threshold: 4.5,
    confusion: { true_positive: 10, false_positive: 0, false_negative: 10, true_negative: 10 },
  });
});

t.test('probes are compared with the evaluations that they repeat', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Probed', ...RANGE });
  const created_at = new Date();
  const at = (request: string, score: number, probe = '') =>
    scored(id, score, { request_id: `probed ${request}`, created_at, probe });
  await insertEvaluations(api, [
    at('a', 4),
    at('b', 2),
    at('c', 5),
    at('a', 4, 'repeat'),
    at('b', 4, 'repeat'),
    at('c', 4, 'repeat'),
    at('a', 1, 'injection'),
    at('d', 1, 'repeat'),
    { ...at('b', 1, 'injection'), state: 'error', score: null },
  ]);
  const { probes, scores } = await statsOf(id);
  t.equal(scores.count, 3);
  t.match(probes.repeat, { count: 3, mean_absolute_difference: 1, flips: 1 });
  t.ok(Math.abs((probes.repeat!.flip_rate as { value: number }).value - 1 / 3) < 1e-12);
  t.match(probes.injection, { count: 1, mean_absolute_difference: 3, flips: 1, flip_rate: { value: 1 } });
  t.match(probes.padding, { count: 0, flip_rate: null });
});

t.test('statistics are those of the current version, or of the requested one', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Versioned', ...RANGE });
  await api.make(`/v1/evaluator/${id}`, { llm_template: { ...RANGE.llm_template, max: 9 } }, 'PUT');
  await insertEvaluations(api, [scored(id, 2), scored(id, 8, { version: 2 }), scored(id, 9, { version: 2 })]);
  t.match(await statsOf(id), { version: 2, scores: { count: 2, min: 8 }, agreement: { threshold: 5 } });
  t.match(await statsOf(id, '?version=1'), {
    version: 1,
    scores: { count: 1, min: 2 },
    agreement: { threshold: 3 },
  });
  const REFUSALS: [string, number, string][] = [
    ['?version=3', 404, `The evaluator ${id} has no version 3`],
    ['?version=0', 400, 'version must be a whole number from 1, but is "0"'],
    ['?version=1.5', 400, 'version must be a whole number from 1, but is "1.5"'],
    ['?threshold=x', 400, 'threshold must be a number, but is "x"'],
    ['?threshold=', 400, 'threshold must be a number, but is ""'],
    ['?threshold=1e999', 400, 'threshold must be a finite number, but is larger than any'],
    ['?days=7', 400, 'days is not a known parameter: use version or threshold'],
  ];
  for (const [search, status, sentence] of REFUSALS) {
    const answer = await api.call(`/v1/evaluator/${id}/stats${search}`);
    t.strictSame([answer.status, answer.body.error], [status, sentence]);
  }
});
