/** What the API tells other processes of the work that its calls make. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { CHANGES_CHANNEL, EVALUATIONS_CHANNEL, RUNS_CHANNEL } from '#core/contracts/channels.ts';
import { waitFor } from '../../support/assay.ts';
import { PYTHON, startEvaluatorApi } from '../../support/evaluators-process.ts';
import { insertRequests } from '../../support/seed-requests.ts';

const api = await startEvaluatorApi(t);
const { sql } = api.database;
const heard: string[] = [];
for (const channel of [CHANGES_CHANNEL, EVALUATIONS_CHANNEL, RUNS_CHANNEL]) {
  await sql.listen(channel, () => heard.push(channel));
}
const count = (channel: string) => heard.filter((one) => one === channel).length;

t.test(
  'a call that writes announces changes, once for all calls of a second, and one that reads does not',
  async (t) => {
    const [request] = await insertRequests(sql, api.own.organizationId, [{}]);
    await api.query({ filter: 'all' });
    await sleep(200);
    t.equal(count(CHANGES_CHANNEL), 0);
    const rate = async (rating: boolean) => {
      const body = { rating };
      const answer = await api.call(`/v1/request/${request!.request_id}/feedback`, { body });
      t.equal(answer.status, 200);
    };
    await Promise.all([true, false, true, false].map(rate));
    await waitFor('both announcements', () => count(CHANGES_CHANNEL) > 1);
    await sleep(1_500);
    t.equal(count(CHANGES_CHANNEL), 2, 'the first at once, the others together');
  },
);

t.test('a run that is made or resumed and an evaluator that is resumed are announced', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'announced', ...PYTHON });
  const run = await api.make<{ id: string }>(`/v1/evaluator/${id}/run`, { filter: 'all' });
  await waitFor('the run', () => count(RUNS_CHANNEL) === 1);
  await api.make(`/v1/evaluator/${id}/run/${run.id}/pause`, {});
  await api.make(`/v1/evaluator/${id}/run/${run.id}/resume`, {});
  await waitFor('the resumed run', () => count(RUNS_CHANNEL) === 2);
  await sql`update assay.evaluators set paused_reason = 'auth' where evaluator_id = ${id}`;
  await sql`
    insert into assay.evaluations (organization_id, evaluator_id, version, created_at, request_id, lane, priority, due_at,
                                   scheduled_at, state)
    values (${api.own.organizationId}, ${id}, 1, now(), 'paused', 'python', 0, now(), now(), 'paused')`;
  t.equal(count(EVALUATIONS_CHANNEL), 0);
  await api.make(`/v1/evaluator/${id}/resume`, {});
  await waitFor('the resumed evaluator', () => count(RUNS_CHANNEL) === 3 && count(EVALUATIONS_CHANNEL) === 1);
});

t.test('evaluations that are tried again are announced', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'failed', ...PYTHON });
  await sql`
    insert into assay.evaluations (organization_id, evaluator_id, version, created_at, request_id, lane, priority, due_at,
                                   scheduled_at, finished_at, state, error_code)
    values (${api.own.organizationId}, ${id}, 1, now(), 'failed', 'python', 0, now(), now(), now() - interval '1 minute',
            'error', 'py_exception')`;
  const before = count(EVALUATIONS_CHANNEL);
  t.same(await api.make(`/v1/evaluator/${id}/retry`, { states: ['error'] }), { retried: 1 });
  await waitFor('the announcement', () => count(EVALUATIONS_CHANNEL) === before + 1);
});
