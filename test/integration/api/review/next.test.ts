/** Who gets which item of a review queue, and when it is done. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { eraseIn, waitingForLocks } from '../../../support/erase.ts';
import { createWorld } from '../../../support/world.ts';
import { ask, criterion, grade, requests } from '../grades/world.ts';
import { endClaims, itemsOf, type Next, next, queue, shown } from './world.ts';

let api: TestApi;
/** The same, by another process with connections of its own. */
let second: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  const { url } = await (await createWorld(t, api.database)).start('api');
  const call: TestApi['call'] = async (path, options) => {
    const response = await fetch(`${url}${path}`, {
      ...(options?.method === undefined ? {} : { method: options.method }),
      headers: { authorization: `Bearer ${api.own.key}` },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  second = { ...api, url, call };
});

const skip = (queueId: string, body: object) => ask(api, `/v1/review-queue/${queueId}/skip`, body);

/** Makes a queue of so many new requests, by one criterion. */
async function made(count: number, perItem = 1, criteria = 1) {
  const ids = await requests(api, count);
  const criterionIds: string[] = [];
  for (let index = 0; index < criteria; index += 1) criterionIds.push(await criterion(api));
  const { id } = await queue(api, { criterionIds, perItem, source: { requestIds: ids } });
  return { id, ids, criterionIds };
}

t.test('twenty people who ask two processes at once get twenty different items', async (t) => {
  const { id, ids } = await made(20);
  const items = await Promise.all(
    Array.from({ length: 20 }, (_, person) => next(person % 2 === 0 ? api : second, id, `Person ${person}`)),
  );
  t.same(items.map((item) => item?.request_id).toSorted(), ids.toSorted());
  t.equal(await next(api, id, 'One more'), null, 'the twenty-first gets none');
});

t.test('people who ask at once for a queue with room for two each share an item by two', async (t) => {
  const { id, ids } = await made(5, 2);
  const items = await Promise.all(
    Array.from({ length: 10 }, (_, person) => next(person % 2 === 0 ? api : second, id, `Person ${person}`)),
  );
  t.same(items.map((item) => item?.request_id).toSorted(), [...ids, ...ids].toSorted());
});

t.test('a person who asks again gets the same item, claimed for ten minutes more', async (t) => {
  const { id, ids, criterionIds } = await made(2);
  const first = await next(api, id, 'Ada');
  t.match(first, { request_id: ids[0], criterion_ids: criterionIds });
  const claimedFor = Date.parse(first!.claimed_until) - Date.now();
  t.ok(claimedFor > 9 * 60_000 && claimedFor <= 10 * 60_000);
  const again = await next(api, id, 'Ada');
  t.equal(again!.request_id, ids[0]);
  t.ok(again!.claimed_until >= first!.claimed_until);
  t.equal((await next(api, id, 'Bo'))!.request_id, ids[1]);
  t.equal((await next(api, id, 'Ada'))!.request_id, ids[0]);
});

t.test('a person who asks several times at once gets one item', async (t) => {
  const { id, ids } = await made(4);
  const items = await Promise.all([api, second, api, second].map((process) => next(process, id, 'Ada')));
  t.same(
    items.map((item) => item?.request_id),
    Array(4).fill(ids[0]),
  );
});

t.test('a person who asks besides an item gets another one, and no third', async (t) => {
  const { id, ids, criterionIds } = await made(4);
  const besides = (requestId: string) =>
    ask<Next>(api, `/v1/review-queue/${id}/next?author=Ada&besides=${requestId}`);
  t.equal((await next(api, id, 'Ada'))!.request_id, ids[0]);
  t.equal((await besides(ids[0]!))!.request_id, ids[1]);
  t.equal((await besides(ids[0]!))!.request_id, ids[1], 'the same, asked again');
  t.equal((await besides(ids[1]!))!.request_id, ids[0], 'the one that she has');
  t.equal((await besides(ids[3]!))!.request_id, ids[0], 'besides one that she has not');
  t.equal((await next(api, id, 'Bo'))!.request_id, ids[2], 'both are hers');
  await grade(api, ids[0]!, criterionIds[0]!, true, { author: 'Ada' });
  t.equal((await besides(ids[1]!))!.request_id, ids[3]);
  await endClaims(api, id);
  t.equal((await besides('unknown'))!.request_id, ids[1]);
});

t.test('without an author, each API key is a person', async (t) => {
  const { id, ids } = await made(2);
  const other = await api.own.keyWith(['read', 'write']);
  t.equal((await next(api, id))!.request_id, ids[0]);
  t.equal((await next(api, id, undefined, other))!.request_id, ids[1]);
  t.equal((await next(api, id))!.request_id, ids[0]);
});

t.test('the claim of a person who went away runs out', async (t) => {
  const { id, ids } = await made(1);
  await next(api, id, 'Ada');
  t.equal(await next(api, id, 'Bo'), null);
  await endClaims(api, id);
  t.equal((await next(api, id, 'Bo'))!.request_id, ids[0]);
  t.equal(await next(api, id, 'Ada'), null, 'and is another one’s now');
});

t.test('an item is done by a person once they graded it by all criteria of the queue', async (t) => {
  const { id, ids, criterionIds } = await made(2, 1, 2);
  await next(api, id, 'Ada');
  await grade(api, ids[0]!, criterionIds[0]!, true, { author: 'Ada' });
  t.match(await next(api, id, 'Ada'), { request_id: ids[0], criterion_ids: [criterionIds[1]] });
  t.match(await shown(api, id), { progress: { items: 2, done: 0, people: [] } });
  await grade(api, ids[0]!, criterionIds[1]!, true, { author: 'Ada' });
  t.equal((await next(api, id, 'Ada'))!.request_id, ids[1]);
  await endClaims(api, id);
  t.equal((await next(api, id, 'Bo'))!.request_id, ids[1], 'an item that is done is given to nobody');
  t.match((await shown(api, id)).progress, {
    items: 2,
    done: 1,
    skipped: 0,
    people: [{ author: 'Ada', key_id: null, graded: 1, skipped: 0 }],
  });
});

t.test('an archived criterion is no longer waited for', async (t) => {
  const { id, ids, criterionIds } = await made(1, 1, 2);
  await grade(api, ids[0]!, criterionIds[0]!, true, { author: 'Ada' });
  await api.call(`/v1/criterion/${criterionIds[1]}`, { method: 'DELETE' });
  t.equal(await next(api, id, 'Ada'), null);
  t.equal((await shown(api, id)).progress.done, 1);
  await api.call(`/v1/criterion/${criterionIds[0]}`, { method: 'DELETE' });
  t.equal(await next(api, id, 'Bo'), null, 'nor is anything, without a criterion');
  t.equal((await shown(api, id)).progress.done, 0);
});

t.test('an item that needs two people is given to the second while the first works on it', async (t) => {
  const { id, ids, criterionIds } = await made(1, 2);
  await next(api, id, 'Ada');
  await grade(api, ids[0]!, criterionIds[0]!, true, { author: 'Ada' });
  t.equal(await next(api, id, 'Ada'), null, 'not twice to the first');
  t.equal((await next(api, id, 'Bo'))!.request_id, ids[0]);
  t.equal(await next(api, id, 'Cy'), null, 'and to no third');
  await grade(api, ids[0]!, criterionIds[0]!, false, { author: 'Bo' });
  t.equal((await shown(api, id)).progress.done, 1);
  const back = `/v1/request/${ids[0]}/grade?criterionId=${criterionIds[0]}&author=Bo`;
  t.equal((await api.call(back, { method: 'DELETE' })).status, 200);
  await endClaims(api, id);
  t.equal((await next(api, id, 'Cy'))!.request_id, ids[0], 'a grade that was taken back is wanted again');
});

t.test('a skipped item is not given to the same person again, but to others at once', async (t) => {
  const { id, ids } = await made(2);
  await next(api, id, 'Ada');
  await skip(id, { requestId: ids[0], reason: 'not mine', author: 'Ada' });
  t.equal((await next(api, id, 'Ada'))!.request_id, ids[1]);
  t.equal((await next(api, id, 'Bo'))!.request_id, ids[0]);
  await skip(id, { requestId: ids[0], author: 'Ada' });
  t.match((await shown(api, id)).progress, {
    skipped: 1,
    people: [{ author: 'Ada', graded: 0, skipped: 1 }],
  });
  await skip(id, { requestId: ids[1], author: 'Ada' });
  t.equal(await next(api, id, 'Ada'), null);
});

t.test('an erased request leaves its queues, with the skips and their reasons', async (t) => {
  const { id, ids } = await made(2);
  await skip(id, { requestId: ids[0], reason: 'holds a secret', author: 'Ada' });
  t.equal((await api.call(`/v1/request/${ids[0]}`, { method: 'DELETE' })).status, 200);
  t.same(await itemsOf(api, id), [ids[1]]);
  const skips = await api.database.sql`select 1 from assay.review_skips where queue_id = ${id}`;
  t.equal(skips.length, 0);
  t.match((await shown(api, id)).progress, { items: 1, skipped: 0, people: [] });
});

t.test('a request that is erased while a queue is made does not become an item', async (t) => {
  const { sql } = api.database;
  const criterionIds = [await criterion(api)];
  const [erased, kept] = await requests(api, 2, { user_id: 'erased-while-queued' });
  let making: Promise<{ id: string }> | undefined;
  await sql.begin(async (tx) => {
    await eraseIn(tx, api.own.organizationId, [erased!]);
    making = queue(api, { criterionIds, source: { q: 'user:erased-while-queued' } });
    await waitFor('the queue to wait for the erasure', async () => (await waitingForLocks(sql)) > 0);
  });
  t.same(await itemsOf(api, (await making!).id), [kept]);
});

t.test('an archived queue gives out nothing, and keeps its progress', async (t) => {
  const { id, ids } = await made(1);
  t.equal((await api.call(`/v1/review-queue/${id}`, { method: 'DELETE' })).status, 200);
  const archived = [409, `The review queue ${id} is archived`];
  const CALLS: [string, object][] = [
    [`/v1/review-queue/${id}/next`, {}],
    [`/v1/review-queue/${id}/skip`, { body: { requestId: ids[0] } }],
    [`/v1/review-queue/${id}`, { method: 'PATCH', body: { name: 'Revived' } }],
  ];
  for (const [path, call] of CALLS) {
    const { status, body } = await api.call(path, call);
    t.same([status, body.error], archived);
  }
  t.match(await shown(api, id), { progress: { items: 1 } });
});
