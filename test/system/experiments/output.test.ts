/** Answers that a job of the caller posts, over everything that `npm start` runs. */
import t from 'tap';
import type { ExperimentJson, ExperimentRunJson } from '#core/contracts/experiment.ts';
import { questions, startWorld } from './world.ts';

const world = await startWorld(t);
const { api, sql } = world;

const { id: evaluatorId } = await api<{ id: string }>('POST', '/v1/evaluator', {
  name: 'polite',
  scoring_type: 'PYTHON',
  code_template: { code: 'def evaluate(input, output):\n    return "please" in output' },
});

/** Makes an external experiment over as many items, and returns it with the ids of the items. */
async function external(items: number, more: object = {}) {
  const datasetId = await world.dataset(questions(items));
  const { id } = await api<ExperimentJson>('POST', '/v1/experiment', {
    name: 'External',
    datasetId,
    target: { kind: 'external' },
    evaluatorIds: [evaluatorId],
    ...more,
  });
  return { id, itemIds: (await world.runs(id)).map(({ item_id }) => item_id) };
}

const post = (id: string, body: object) =>
  api<ExperimentRunJson>('POST', `/v1/experiment/${id}/output`, body);

t.test(
  'answers of a job are logged, graded and counted, as text, as a completion and by their request',
  async (t) => {
    const { id, itemIds } = await external(4);
    const [text, completion, logged, failed] = itemIds;
    t.match(await post(id, { itemId: text, response: 'Wait, please.', latencyMs: 200 }), {
      state: 'completed',
    });
    const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'No.' }, finish_reason: 'stop' }];
    await post(id, { itemId: completion, response: { model: 'gpt-4o-mini', choices, usage } });
    const called = await fetch(`${world.assay.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.assay.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(questions(1)[0]),
    });
    const requestId = called.headers.get('service-request-id');
    t.match(
      await post(id, { itemId: logged, requestId }),
      { state: 'completed', request_id: requestId },
      'at once',
    );
    t.match(await post(id, { itemId: failed, error: 'The tool crashed' }), {
      state: 'error',
      error_code: 'job_failed',
      error_message: 'The tool crashed',
    });
    const ended = await world.ended(id);
    t.match(ended, { completed: 3, failed: 1, pending: 0 });
    const runs = await world.runs(id);
    const scores = await sql<{ item: string; score: number }[]>`
    select r.item_id as item, e.score from assay.experiment_runs r
      join assay.evaluations e on e.request_id = r.request_id and e.evaluator_id = ${evaluatorId}
     where r.experiment_id = ${id} and e.state = 'completed'`;
    t.same(Object.fromEntries(scores.map(({ item, score }) => [item, score])), {
      [text!]: 1,
      [completion!]: 0,
      [logged!]: 0,
    });
    const records = await sql<{ latency: number; source: string; model: string; cost: string }[]>`
    select latency_ms::float8 as latency, source, model, coalesce(cost_nano, 0)::text as cost from assay.requests
     where request_id = any(${runs.flatMap(({ request_id }) => request_id ?? [])}::text[]) order by latency desc`;
    t.equal(records.length, 3);
    t.equal(records[0]!.latency, 200);
    const spent = records.reduce((sum, { cost }) => sum + Number(cost), 0);
    t.ok(spent >= 1_000 * (150 + 600), 'a model with a price has a cost');
    t.equal(Math.round(ended.cost_usd * 1e9), spent);
  },
);

t.test('the first answer of a run stays, whoever sends another, and however often at once', async (t) => {
  const { id, itemIds } = await external(2);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => post(id, { itemId: itemIds[0], response: `Answer ${index}` })),
  );
  t.equal(new Set(answers.map(({ request_id }) => request_id)).size, 1);
  t.match(await post(id, { itemId: itemIds[0], response: 'Another' }), {
    request_id: answers[0]!.request_id,
  });
  t.match(await post(id, { itemId: itemIds[0], error: 'Late' }), { state: 'completed' });
  await post(id, { itemId: itemIds[1], response: 'please' });
  await world.ended(id);
  const [count] = await sql`
    select count(*)::int4 as records from assay.requests where experiment_id = ${id}`;
  t.same(count, { records: 2 });
});

t.test('an answer that is none of this experiment is refused with the reason', async (t) => {
  const { id, itemIds } = await external(2);
  const [itemId, other] = itemIds;
  const refused = (body: object, error: RegExp) => t.rejects(post(id, body), { message: error });
  await refused({ itemId }, /400 response or requestId or error is required, and one alone/);
  await refused({ itemId, response: 'a', error: 'b' }, /400 response or requestId or error is required/);
  await refused({ response: 'a' }, /400 itemId or externalId is required, and not both/);
  await refused({ itemId, error: 'a', model: 'b' }, /400 model belongs to a response/);
  await refused({ itemId, response: 'a', repetition: 2 }, /404 .*no run of the item .* in repetition 2/);
  await refused({ itemId: 'unknown', response: 'a' }, /404 .*no run of the item unknown/);
  await refused({ itemId, requestId: crypto.randomUUID() }, /404 There is no request/);
  const { request_id: requestId } = await post(id, { itemId, response: 'a' });
  // It is waited for.
  await refused({ itemId: other, requestId }, /409 .*answer of another run/);
  await api('POST', `/v1/experiment/${id}/cancel`);
  await refused(
    { itemId: other, response: 'b' },
    /409 The experiment is cancelled: only one that is running takes answers/,
  );
  const replay = await api<ExperimentJson>('POST', '/v1/experiment', {
    name: 'Replay',
    datasetId: await world.dataset(questions(1)),
    target: { kind: 'replay' },
  });
  const [run] = await world.runs(replay.id);
  await t.rejects(post(replay.id, { itemId: run!.item_id, response: 'a' }), {
    message: /409 .*only external takes answers/,
  });
});
