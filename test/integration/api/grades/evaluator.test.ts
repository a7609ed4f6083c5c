/** The agreement of an evaluator with people, by the criterion that is tied to it. */
import t from 'tap';
import { BOOLEAN, type EvaluatorApi, RANGE, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';
import { insertEvaluations } from '../evaluators/seed-evaluations.ts';
import { criterion, grade, LABELS, SCALE } from './world.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const agreementOf = async (id: string) =>
  (await api.make<{ agreement: Record<string, unknown> }>(`/v1/evaluator/${id}/stats`)).agreement;

/** Seeds requests that the evaluator scored, each rated good by feedback. */
async function scored(evaluatorId: string, scores: readonly number[]): Promise<SeedRequest[]> {
  const rows = await insertRequests(
    api.database.sql,
    api.own.organizationId,
    scores.map(() => ({ feedback_rating: true, created_at: new Date(Date.now() - 60_000) })),
  );
  await insertEvaluations(
    api,
    rows.map(({ request_id, created_at }, index) => ({
      evaluator_id: evaluatorId,
      state: 'completed',
      score: scores[index]!,
      request_id,
      created_at,
    })),
  );
  return rows;
}

async function gradeAll(criterionId: string, rows: readonly SeedRequest[], values: readonly unknown[][]) {
  for (const [index, { request_id }] of rows.entries())
    for (const [person, value] of values[index]!.entries())
      await grade(api, request_id, criterionId, value, { author: `Person ${person}` });
}

t.test('the grades of a tied criterion stand in place of ratings: the majority, without ties', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Polite', ...BOOLEAN });
  const rows = await scored(id, [1, 1, 1, 0, 0, 1, 1]);
  t.match(await agreementOf(id), {
    basis: 'feedback',
    basis_note: null,
    criterion_id: null,
    rated: 7,
    ties: 0,
  });
  const tied = await criterion(api, { type: 'boolean' }, { evaluatorId: id });
  t.match(await agreementOf(id), { basis: 'criterion', rated: 0, count: 0 }, 'ratings no longer count');
  const [yes, no] = [true, false];
  await gradeAll(tied, rows, [[yes], [yes, yes, no], [no, no, yes], [no], [yes], [yes, no], []]);
  t.match(await agreementOf(id), {
    basis: 'criterion',
    basis_note: null,
    criterion_id: tied,
    rated: 5,
    ties: 1,
    count: 5,
    confusion: { true_positive: 2, false_positive: 1, false_negative: 1, true_negative: 1 },
  });
  await api.call(`/v1/criterion/${tied}`, { method: 'DELETE' });
  t.match(await agreementOf(id), { basis: 'feedback', rated: 7 }, 'an archived criterion is tied no more');
});

t.test('a grade on a scale is good from the middle on, and a label by its score', async (t) => {
  const range = await api.make('/v1/evaluator', { name: 'Range', ...RANGE });
  const rows = await scored(range.id, [5, 5, 1]);
  const scale = await criterion(api, SCALE, { evaluatorId: range.id });
  await gradeAll(scale, rows, [[3], [2], [2]]);
  const confusion = { true_positive: 1, false_positive: 1, false_negative: 0, true_negative: 1 };
  t.match(await agreementOf(range.id), { basis: 'criterion', confusion });
  await api.make(`/v1/criterion/${scale}`, { evaluatorId: null }, 'PATCH');
  const labels = await criterion(api, LABELS, { evaluatorId: range.id });
  await gradeAll(labels, rows, [['good'], ['fair'], ['bad']]);
  t.match(await agreementOf(range.id), { basis: 'criterion', criterion_id: labels, confusion });
});

t.test('labels without scores leave the ratings in place, and the answer says why', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Labels', ...BOOLEAN });
  const rows = await scored(id, [1]);
  const kind = { type: 'categories', labels: [{ label: 'a' }, { label: 'b', score: 1 }] };
  const tied = await criterion(api, kind, { evaluatorId: id });
  await gradeAll(tied, rows, [['a']]);
  t.match(await agreementOf(id), {
    basis: 'feedback',
    basis_note: /labels without scores/,
    criterion_id: null,
    rated: 1,
  });
});
