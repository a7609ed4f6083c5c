/** Judgments that were made elsewhere, imported as evaluations. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ImportedJson } from '#core/contracts/judgment.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { waitFor } from '../../../../support/assay.ts';
import {
  CHOICE,
  type EvaluatorApi,
  PYTHON,
  RANGE,
  startEvaluatorApi,
} from '../../../../support/evaluators-process.ts';
import { takeChanges } from '../../../../support/noted-changes.ts';
import { insertRequests } from '../../../../support/seed-requests.ts';

import { insertEvaluations } from '../seed-evaluations.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const IMPORTED = { scoring_type: 'EXTERNAL', external_config: { adapter: 'imported' } };
const LABELS = [
  { label: 'wrong', score: 0 },
  { label: 'right', score: 1 },
];

let names = 0;
async function evaluator(given: object = IMPORTED): Promise<string> {
  names += 1;
  return (await api.make('/v1/evaluator', { name: `judged ${names}`, ...given })).id;
}
/** Seeds requests that are not young. */
async function requests(count: number, organizationId = api.own.organizationId): Promise<string[]> {
  const rows = await insertRequests(
    api.database.sql,
    organizationId,
    Array.from({ length: count }, () => ({ created_at: new Date(Date.now() - 60_000) })),
  );
  return rows.map(({ request_id }) => request_id);
}
const pathOf = (id: string) => `/v1/evaluator/${id}/evaluations`;
const imports = (id: string, evaluations: unknown[]) => api.make<ImportedJson>(pathOf(id), { evaluations });
type Shown = Record<string, unknown> & { id: string };
const evaluationsOf = (body: object) => api.make<Shown[]>('/v1/evaluation/query', body);

t.test('an imported judgment is an evaluation that has ended, and its score is in the record', async (t) => {
  const id = await evaluator({ ...IMPORTED, external_config: { adapter: 'imported', categories: LABELS } });
  const [requestId] = await requests(1);
  await takeChanges(api.database.sql);
  const judgment = {
    requestId,
    label: 'Right',
    reasoning: 'It names the capital.',
    evaluatedAt: '2026-02-03T04:05:06.000Z',
  };
  const imported = await imports(id, [judgment]);
  t.match(imported, { stored: 1, duplicate: 0, unknown_request: 0, not_stored_yet: 0, invalid: 0 });
  t.match(imported.results, [{ requestId, outcome: 'stored', error: null }]);
  const shown = await api.make<Shown>(`/v1/evaluation/${imported.results[0]!.evaluationId}`);
  t.match(shown, {
    evaluator_id: id,
    version: 1,
    request_id: requestId,
    state: 'completed',
    score: 1,
    label: 'right',
    reasoning: 'It names the capital.',
    finished_at: '2026-02-03T04:05:06.000Z',
    judge: null,
    error: null,
    warnings: [],
    history: [],
  });
  t.equal(shown.imported_at, shown.scheduled_at);
  t.match(await api.make(`/v1/request/${requestId}`), { scores: { [`judged_${names}`]: 1 } });
  const changes = await takeChanges(api.database.sql);
  t.match(
    changes.map(({ kind, requestIds, details }) => ({ kind, requestIds, details })),
    [
      { kind: 'score', requestIds: [requestId], details: [{ key: `judged_${names}`, value: 1 }] },
      {
        kind: 'evaluation',
        requestIds: [requestId],
        details: [{ evaluator_id: id, state: 'completed', score: 1 }],
      },
    ],
  );
});

t.test('statistics count imported judgments as any others, and a query tells them apart', async (t) => {
  const id = await evaluator({ ...IMPORTED, external_config: { adapter: 'imported', categories: LABELS } });
  const ids = await requests(4);
  await insertEvaluations(api, [{ evaluator_id: id, state: 'skipped', error_code: 'evaluator_imported' }]);
  await imports(id, [
    { requestId: ids[0], score: 1 },
    { requestId: ids[1], label: 'wrong' },
    { requestId: ids[2], score: null },
    { requestId: ids[3], error: { code: 'judge_timeout', message: 'after 60 s' } },
  ]);
  const stats = await api.make<{ evaluations: object; scores: object; agreement: object }>(
    `/v1/evaluator/${id}/stats`,
  );
  t.match(stats.evaluations, {
    total: 5,
    by_state: { completed: 2, skipped: 2, error: 1 },
    errors: { judge_timeout: 1 },
    skips: { no_verdict: 1, evaluator_imported: 1 },
  });
  t.match(stats.scores, {
    count: 2,
    mean: 0.5,
    distribution: [
      { label: 'wrong', score: 0, count: 1 },
      { label: 'right', score: 1, count: 1 },
    ],
  });
  t.match(stats.agreement, { threshold: 0.5 });
  const counts = await Promise.all(
    [true, false].map(async (imported) => (await evaluationsOf({ evaluatorId: id, imported })).length),
  );
  t.strictSame(counts, [4, 1]);
});

t.test(
  'each judgment has its outcome: a bad one stops no other, and another organization’s request is unknown',
  async (t) => {
    const id = await evaluator({ ...IMPORTED, external_config: { adapter: 'imported', min: 1, max: 5 } });
    const ids = await requests(3);
    const anHourAgo = new Date(Date.now() - 3_600_000);
    const [theirs] = await insertRequests(api.database.sql, api.other.organizationId, [
      { request_id: newRequestId(anHourAgo.getTime()), created_at: anHourAgo },
    ]);
    const foreign = theirs!.request_id;
    const [mine] = await insertEvaluations(api, [
      {
        evaluator_id: id,
        request_id: ids[1]!,
        created_at: await timeOf(ids[1]!),
        state: 'completed',
        score: 4,
      },
    ]);
    const imported = await imports(id, [
      { requestId: ids[0], score: 5 },
      { requestId: ids[0], score: 1 },
      { requestId: ids[1], score: 1 },
      { requestId: foreign, score: 3 },
      { requestId: 'never logged', score: 3 },
      { requestId: ids[2], score: 6 },
      { requestId: ids[2], score: '3' },
      7,
      { requestId: ids[2], score: 3 },
    ]);
    const first = imported.results[0]!.evaluationId;
    t.strictSame(
      imported.results.map(({ outcome, evaluationId, error }) => [outcome, evaluationId, error]),
      [
        ['stored', first, null],
        ['duplicate', first, null],
        ['duplicate', mine, null],
        ['unknown_request', null, null],
        ['unknown_request', null, null],
        ['invalid', null, 'score must be a number from 1 to 5, but is 6'],
        ['invalid', null, 'score must be a number or a boolean or null, but is "3"'],
        ['invalid', null, 'body must be an object, but is 7'],
        ['stored', imported.results[8]!.evaluationId, null],
      ],
    );
    t.match(await api.make(`/v1/evaluation/${mine}`), { score: 4, imported_at: null }, 'never overwritten');
    t.match(await api.make(`/v1/evaluation/${first}`), { score: 5 }, 'the first of a call counts');
  },
);

async function timeOf(requestId: string): Promise<Date> {
  const [row] = await api.database.sql<{ at: Date }[]>`
    select created_at as at from assay.requests where request_id = ${requestId}`;
  return row!.at;
}

t.test('the same judgments sent by eight callers at once, in any order, are each stored once', async (t) => {
  const id = await evaluator();
  const ids = await requests(60);
  const judgments = ids.map((requestId, index) => ({ requestId, score: index }));
  const orders = [judgments, judgments.toReversed(), [...judgments.slice(30), ...judgments.slice(0, 30)]];
  const all = await Promise.all(Array.from({ length: 8 }, (_, index) => imports(id, orders[index % 3]!)));
  const sum = (name: 'stored' | 'duplicate') => all.reduce((total, one) => total + one[name], 0);
  t.equal(sum('stored'), 60);
  t.equal(sum('duplicate'), 7 * 60);
  const [{ rows, scores }] = await api.database.sql<[{ rows: number; scores: number }]>`
    select (select count(*)::int4 from assay.evaluations where evaluator_id = ${id}) as rows,
           (select count(*)::int4 from assay.request_scores where evaluator_id = ${id}) as scores`;
  t.strictSame({ rows, scores }, { rows: 60, scores: 60 });
});

t.test('two imports of the same judgments in opposite orders do not wait for each other', async (t) => {
  const id = await evaluator();
  const { sql } = api.database;
  const ids = (await requests(3)).sort();
  const judgments = ids.map((requestId) => ({ requestId, score: 1 }));
  const waiting = async (count: number) => {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int4 as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%assay.evaluations%'`;
    return row.count >= count;
  };
  let all: Promise<ImportedJson[]> | undefined;
  // A row that is not committed stops both imports in their middle.
  await sql
    .begin(async (tx) => {
      await tx`
        insert into assay.evaluations
          (organization_id, evaluator_id, version, created_at, request_id, lane, priority, due_at, scheduled_at)
        select organization_id, ${id}, 1, created_at, request_id, 'remote', 0, now(), now()
        from assay.requests where request_id = ${ids[1]!}`;
      all = Promise.all([imports(id, judgments), imports(id, judgments.toReversed())]);
      await waitFor('both imports wait', () => waiting(2));
      throw new Error('rolled back');
    })
    .catch(() => {});
  const [one, other] = (await all)!;
  t.equal(one!.stored + other!.stored, 3);
  t.equal(one!.duplicate + other!.duplicate, 3);
});

t.test('a judgment may name an earlier version; the score of a record is that of the latest', async (t) => {
  const id = await evaluator();
  await api.make(
    `/v1/evaluator/${id}`,
    { external_config: { adapter: 'imported', description: 'v2' } },
    'PUT',
  );
  const [both, old] = await requests(2);
  const imported = await imports(id, [
    { requestId: both, version: 2, score: 0.25 },
    { requestId: both, version: 1, score: 0.75 },
    { requestId: old, version: 1, score: 0.5 },
    { requestId: old, version: 3, score: 0.5 },
  ]);
  t.match(imported, { stored: 3, invalid: 1 });
  t.match(imported.results[3], { error: "version must be one of the evaluator's, 1 to 2, but is 3" });
  const key = `judged_${names}`;
  t.match(await api.make(`/v1/request/${both}`), { scores: { [key]: 0.25 } });
  await imports(id, [{ requestId: old, score: 1 }]);
  t.match(await api.make(`/v1/request/${old}`), { scores: { [key]: 1 } });
});

t.test('a judge’s verdicts made elsewhere keep to its scale, and code’s to its categories', async (t) => {
  const cases: [object, object, RegExp | null][] = [
    [CHOICE, { label: 'GOOD' }, null],
    [CHOICE, { score: 1 }, null],
    [CHOICE, { label: 'good', score: 0 }, /^score must be 1, that of the label, but is 0$/],
    [CHOICE, { label: 'fair' }, /^label must be one of "bad" \(0\), "good" \(1\), but is "fair"$/],
    [RANGE, { score: 0.5 }, /^score must be a number from 1 to 5, but is 0.5$/],
    [RANGE, { score: 2, label: 'two' }, /^label does not belong to the scoring_type LLM-RANGE$/],
    [PYTHON, { score: true, label: 'free text' }, null],
    [PYTHON, { label: 'free text' }, /^label needs a score beside it/],
    [PYTHON, { score: 1, error: { code: 'x' } }, /^error excludes a score and a label/],
    [PYTHON, {}, /^score is required, or a label or an error$/],
    [PYTHON, { error: { code: 'Not a code' } }, /^error.code must be 1 to 64 lower-case letters/],
    [PYTHON, { score: 1, evaluatedAt: '2019-01-01T00:00:00Z' }, /^evaluatedAt must be an RFC 3339 timestamp/],
    [PYTHON, { score: 1, colour: 'red' }, /^colour is not a known field$/],
  ];
  for (const [given, judgment, rule] of cases) {
    const [requestId] = await requests(1);
    const { results } = await imports(await evaluator(given), [{ requestId, ...judgment }]);
    const [row] = results;
    if (rule === null) t.equal(row!.outcome, 'stored', JSON.stringify(judgment));
    else t.match(row!.error, rule);
  }
});

t.test('a long reasoning is cut, and the evaluation says so', async (t) => {
  const id = await evaluator();
  const [requestId] = await requests(1);
  const { results } = await imports(id, [{ requestId, score: 1, reasoning: `\u0000${'é'.repeat(5_000)}` }]);
  const shown = await api.make<Shown & { reasoning: string }>(`/v1/evaluation/${results[0]!.evaluationId}`);
  t.ok(Buffer.byteLength(shown.reasoning) <= 4_096);
  t.strictSame(shown.warnings, ['The reasoning was cut to 4096 bytes']);
});

t.test('a request that was logged a moment ago is waited for, and else told as not stored yet', async (t) => {
  const id = await evaluator();
  const { sql } = api.database;
  const [soon, claimed, never] = [newRequestId(), randomUUID(), randomUUID()];
  await sql`insert into assay.claimed_request_ids values (${api.own.organizationId}, ${claimed})`;
  const [theirs] = [randomUUID()];
  await sql`insert into assay.claimed_request_ids values (${api.other.organizationId}, ${theirs})`;
  const importing = imports(
    id,
    [soon, claimed, never, theirs].map((requestId) => ({ requestId, score: 1 })),
  );
  await insertRequests(sql, api.own.organizationId, [{ request_id: soon }]);
  const { results } = await importing;
  t.strictSame(
    results.map(({ outcome }) => outcome),
    ['stored', 'not_stored_yet', 'unknown_request', 'unknown_request'],
  );
});

t.test('an evaluator of imported judgments scores nothing itself', async (t) => {
  const id = await evaluator();
  const refused = [
    await api.call(`/v1/evaluator/${id}/run`, { body: { filter: 'all' } }),
    await api.call(`/v1/evaluator/${id}/run`, { body: { filter: 'all', dryRun: true } }),
    await api.call(`/v1/evaluator/${id}/onlineEvaluators`, { body: { config: { sampleRate: 1 } } }),
  ];
  for (const { status, text } of refused)
    t.match({ status, text }, { status: 409, text: /judgments of this evaluator are imported/ });
  t.match(await api.make(`/v1/evaluator/${id}`), { waiting: null });
  const testInput = { inputBody: {}, outputBody: {} };
  const tried = await api.call('/v1/evaluator/external/test', {
    body: { external_config: { adapter: 'imported' }, testInput },
  });
  t.match(tried, { status: 400, text: /calls nothing/ });
  const http = { adapter: 'http', url: 'https://public.example.com/score' };
  const changed = await api.call(`/v1/evaluator/${id}`, { method: 'PUT', body: { external_config: http } });
  t.match(changed, { status: 400, text: /adapter cannot change from or to/ });
});

t.test('a failed judgment that was imported is not tried again', async (t) => {
  const id = await evaluator(RANGE);
  const [requestId] = await requests(1);
  const { results } = await imports(id, [{ requestId, error: { code: 'judge_timeout' } }]);
  const one = await api.call(`/v1/evaluation/${results[0]!.evaluationId}/retry`, { method: 'POST' });
  t.match(one, { status: 409, text: /was imported: it cannot be tried again/ });
  t.match(await api.make(`/v1/evaluator/${id}/retry`, { states: ['error'] }), { retried: 0 });
});

t.test('bad scales and bad calls are refused with the rule', async (t) => {
  const make = (external_config: object) =>
    api.call('/v1/evaluator', { body: { name: 'Bad', scoring_type: 'EXTERNAL', external_config } });
  const scales: [object, RegExp][] = [
    [{ min: 1 }, /external_config.max is required/],
    [{ min: 5, max: 5 }, /external_config.min must be a finite number less than/],
    [
      { min: 0, max: 1, categories: LABELS },
      /external_config.categories and external_config.min or max exclude/,
    ],
    [{ categories: [LABELS[0]] }, /external_config.categories must hold at least 2 items/],
    [{ url: 'https://x.example' }, /external_config.url is not a known field/],
  ];
  for (const [scale, text] of scales)
    t.match(await make({ adapter: 'imported', ...scale }), { status: 400, text });
  const id = await evaluator();
  const calls: [unknown, RegExp][] = [
    [{ evaluations: [] }, /evaluations must hold at least 1 items/],
    [{ evaluations: Array(1_001).fill({}) }, /evaluations must hold at most 1000 items/],
    [{ judgments: [] }, /evaluations is required/],
  ];
  for (const [body, text] of calls) t.match(await api.call(pathOf(id), { body }), { status: 400, text });
  const body = { evaluations: [{ requestId: 'x', score: 1 }] };
  t.equal((await api.call(pathOf(id), { body, key: api.other.key })).status, 404);
  t.equal((await api.call(pathOf(randomUUID()), { body })).status, 404);
});
