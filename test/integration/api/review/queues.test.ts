/** Making review queues: where their items come from, names, bounds and refusals. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { MAX_ITEMS, MAX_QUEUES } from '#core/contracts/review.ts';
import { BOOLEAN, type EvaluatorApi, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { generateRequests, insertRequests } from '../../../support/seed-requests.ts';
import { insertEvaluations } from '../evaluators/seed-evaluations.ts';
import { ask, criterion, grade, requests } from '../grades/world.ts';
import { itemsOf, type Queue, queue, shown } from './world.ts';

let api: EvaluatorApi;
let criterionIds: string[];
t.before(async () => {
  api = await startEvaluatorApi(t);
  criterionIds = [await criterion(api)];
});

const made = async (source: object, given: object = {}) =>
  itemsOf(api, (await queue(api, { criterionIds, source, ...given })).id);
const refusal = async (body: object) => {
  const answer = await api.call('/v1/review-queue', { body });
  return [answer.status, answer.body.error];
};

t.test('the items are the requests of a filter, the newest first, and stay those', async (t) => {
  const ids = await requests(api, 3, { user_id: 'queued' });
  const { id, ...rest } = await queue(api, { criterionIds, source: { q: 'user:queued' } });
  t.match(rest, {
    criterion_ids: criterionIds,
    source: { q: 'user:queued' },
    progress: { items: 3, done: 0 },
  });
  t.same(await itemsOf(api, id), ids.toReversed());
  await requests(api, 1, { user_id: 'queued' });
  t.equal((await itemsOf(api, id)).length, 3);
  const filter = { request: { user_id: { equals: 'queued' } } };
  t.equal((await made({ filter })).length, 4);
});

t.test('a sample is the same for a seed, and another for another', async (t) => {
  const ids = await requests(api, 40, { user_id: 'sampled' });
  const sample = (seed: number) => made({ q: 'user:sampled', sample: { n: 10, seed } });
  const first = await sample(1);
  t.equal(new Set(first).size, 10);
  t.ok(first.every((id) => ids.includes(id)));
  t.same(await sample(1), first);
  t.notSame((await sample(2)).toSorted(), first.toSorted());
});

t.test('named requests are items once, in their order', async (t) => {
  const [one, two] = await requests(api, 2);
  const { id, source } = await queue(api, { criterionIds, source: { requestIds: [two, one, two] } });
  t.same(source, { requestIds: 3 });
  t.same(await itemsOf(api, id), [two, one]);
  const body = { name: 'Unknown', criterionIds, perItem: 1, source: { requestIds: [one, 'unknown'] } };
  t.same(await refusal(body), [404, 'There is no request with the id "unknown"']);
});

t.test('disagreements are requests of which a person says another thing than the evaluator', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Disputed', ...BOOLEAN });
  const rows = await insertRequests(
    api.database.sql,
    api.own.organizationId,
    [true, false, null, true].map((feedback_rating, index) => ({
      feedback_rating,
      created_at: new Date(Date.now() - 60_000 + index),
    })),
  );
  await insertEvaluations(
    api,
    rows.slice(0, 3).map(({ request_id, created_at }) => ({
      evaluator_id: id,
      state: 'completed',
      score: 1,
      request_id,
      created_at,
    })),
  );
  const ids = rows.map(({ request_id }) => request_id);
  const source = { disagreement: { evaluatorId: id } };
  t.same(await made(source), [ids[1]], 'without a criterion, than the rating');
  const tied = await criterion(api, { type: 'boolean' }, { evaluatorId: id });
  const other = await criterion(api);
  await grade(api, ids[0]!, tied, false, { author: 'Ada' });
  await grade(api, ids[1]!, tied, true, { author: 'Ada' });
  t.same(await made(source), [ids[0]], 'with one, than a grade');
  await grade(api, ids[3]!, other, true, { author: 'Ada' });
  await grade(api, ids[3]!, other, false, { author: 'Bo' });
  t.same(await made(source, { criterionIds: [other] }), [ids[3], ids[0]], 'and where people differ');
  const drawn = await made({ ...source, sample: { n: 1, seed: 5 } }, { criterionIds: [other] });
  t.equal(drawn.length, 1);
});

t.test('a queue is listed, renamed and archived under a name that is unique ignoring case', async (t) => {
  const [request] = await requests(api, 1);
  const source = { requestIds: [request] };
  const { id } = await queue(api, { name: 'Weekly', criterionIds, source });
  const taken = [409, 'There is a review queue of this name already'];
  t.same(await refusal({ name: 'weekly', criterionIds, perItem: 1, source }), taken);
  const other = await queue(api, { criterionIds, source });
  const rename = (name: string) =>
    api.call(`/v1/review-queue/${other.id}`, { method: 'PATCH', body: { name } });
  t.equal((await rename('WEEKLY')).status, 409);
  t.equal((await rename('Monthly')).status, 200);
  t.equal((await shown(api, other.id)).name, 'Monthly');
  await api.call(`/v1/review-queue/${id}`, { method: 'DELETE' });
  const list = (body: object) => ask<Queue[]>(api, '/v1/review-queue/query', body);
  t.notOk((await list({})).some((one) => one.id === id));
  t.ok((await list({ archived: true })).some((one) => one.id === id));
});

t.test('a body that breaks a rule is refused with its rule', async (t) => {
  const [request] = await requests(api, 1);
  const source = { requestIds: [request] };
  const valid = { name: 'Refused', criterionIds, perItem: 1, source };
  const archived = await criterion(api);
  await api.call(`/v1/criterion/${archived}`, { method: 'DELETE' });
  const unknown = randomUUID();
  const ONE_OF = /^source must have exactly one of a filter \(filter or q\), requestIds and disagreement$/;
  const REFUSED: [given: object, status: number, sentence: RegExp][] = [
    [{ name: '' }, 400, /^name must not be empty$/],
    [{ criterionIds: [] }, 400, /^criterionIds must hold at least 1 item/],
    [{ criterionIds: Array(21).fill(unknown) }, 400, /^criterionIds must hold at most 20 items/],
    [{ criterionIds: [unknown] }, 404, /^There is no criterion with the id/],
    [{ criterionIds: ['x'] }, 404, /^There is no criterion with the id "x"$/],
    [{ criterionIds: [archived] }, 409, /is archived$/],
    [{ perItem: 0 }, 400, /^perItem must be at least 1, but is 0$/],
    [{ perItem: 11 }, 400, /^perItem must be at most 10, but is 11$/],
    [{ source: {} }, 400, ONE_OF],
    [{ source: { q: '', requestIds: [request] } }, 400, ONE_OF],
    [{ source: { sample: { n: 1, seed: 1 } } }, 400, ONE_OF],
    [
      { source: { ...source, sample: { n: 1, seed: 1 } } },
      400,
      /^source.sample does not belong to requestIds$/,
    ],
    [{ source: { filter: 'all', q: '' } }, 400, /^source.q and source.filter exclude each other/],
    [{ source: { filter: { nothing: 1 } } }, 400, /nothing/],
    [{ source: { q: 'user:nobody-at-all' } }, 400, /^source must find a request, but finds none$/],
    [
      { source: { q: 'status:200', sample: { n: MAX_ITEMS + 1, seed: 1 } } },
      400,
      /^source.sample.n must be at most/,
    ],
    [{ source: { disagreement: { evaluatorId: unknown } } }, 404, /^There is no evaluator with the id/],
    [{ source: { disagreement: { evaluatorId: 'x' } } }, 404, /^There is no evaluator with the id "x"$/],
    [{ source: { requestIds: ['a\0b'] } }, 404, /^There is no request/],
    [{ assignees: [] }, 400, /^assignees is not a known field$/],
  ];
  for (const [given, status, sentence] of REFUSED) {
    const [found, error] = await refusal({ ...valid, ...given });
    t.equal(found, status, JSON.stringify(given).slice(0, 80));
    t.match(error, sentence);
  }
  const { id } = await queue(api, valid);
  const { status, body } = await api.call(`/v1/review-queue/${id}/next?who=me`);
  t.same([status, body.error], [400, 'who is not a known parameter: use author or besides']);
  t.equal((await api.call(`/v1/review-queue/${id}/next?author=%20`)).status, 400);
  const absent = { requestId: randomUUID() };
  t.equal((await api.call(`/v1/review-queue/${id}/skip`, { body: absent })).status, 404);
});

t.test('items and queues are bounded', async (t) => {
  const endMs = Date.now() - 60_000;
  const count = MAX_ITEMS + 1;
  await generateRequests(api.database.sql, { organizationId: api.own.organizationId, count, endMs });
  const body = { name: 'Large', criterionIds, perItem: 1, source: { q: 'source:gateway' } };
  const sentence = `source must find at most ${MAX_ITEMS} requests, but finds more: add a sample`;
  t.same(await refusal(body), [400, sentence]);
  const sample = { n: MAX_ITEMS, seed: 1 };
  const { id } = await queue(api, { ...body, source: { ...body.source, sample } });
  t.equal((await shown(api, id)).progress.items, MAX_ITEMS);
  await api.database.sql`
    insert into assay.review_queues
      (queue_id, organization_id, name, folded_name, criterion_ids, source, per_item, created_at, updated_at)
    select gen_random_uuid(), ${api.own.organizationId}, 'filler ' || i, 'filler ' || i, '{}', '{}', 1, now(), now()
    from generate_series(1, ${MAX_QUEUES}) i`;
  const full = await refusal({ ...body, source: { q: 'status:200', sample } });
  t.same(full, [409, `An organization can have at most ${MAX_QUEUES} review queues: archive one first`]);
});
