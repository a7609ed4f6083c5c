/** Items of erased requests. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { eraseIn, waitingForLocks } from '../../../support/erase.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { ask, asking, create, type Item, itemsOf, put, refusal } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const REQUEST = '{"messages":[{"role":"user","content":"a secret"}]}';

async function seed(): Promise<string> {
  const [row] = await insertRequests(api.database.sql, api.own.organizationId, [
    { request_text: REQUEST, session_id: 'secret session', inputs: { name: 'secret name' } },
  ]);
  return row!.request_id;
}

const eraseRequest = (id: string) => api.call(`/v1/request/${id}`, { method: 'DELETE' });

t.test('erasing a request takes its content from every version of every item made from it', async (t) => {
  const id = await create(api);
  const requestId = await seed();
  await ask(api, `/${id}/items/from-requests`, { requestIds: [requestId], split: 'test' });
  const [item] = await itemsOf(api, id);
  await put(api, id, [asking('changed, and still of a secret', { externalId: requestId, split: 'test' })]);
  await put(api, id, [asking('of nobody', { externalId: 'other', split: 'test' })]);
  t.equal((await itemsOf(api, id))[0]!.sourceRequestId, requestId, 'a change keeps where an item is from');

  t.equal((await eraseRequest(requestId)).status, 200);
  const erased = { id: item!.id, erased: true };
  for (const version of [1, 2, 3]) t.same((await itemsOf(api, id, { version }))[0], erased);
  t.same(await ask(api, `/${id}/items/${item!.id}?version=1`), erased);
  t.equal((await itemsOf(api, id, { split: 'test' })).length, 2, 'it is still of its split');
  const rows = await api.database.sql`
    select external_id, request, expected, metadata, cluster, source_request_id, erased_at is not null as erased,
           encode(content_sha256, 'hex') as hash
      from assay.dataset_items where dataset_id = ${id} and item_id = ${item!.id}`;
  const gone = {
    external_id: null,
    request: null,
    expected: null,
    metadata: '{}',
    cluster: null,
    source_request_id: null,
    erased: true,
    hash: createHash('sha256').digest('hex'),
  };
  t.strictSame(
    rows.map((row) => ({ ...row })),
    [gone, gone],
  );
  const [dump] = await api.database.sql<{ text: string }[]>`
    select string_agg(i::text, '') as text from assay.dataset_items i where dataset_id = ${id}`;
  t.notMatch(dump!.text, /secret/);
  t.match(await ask(api, `/${id}/diff`, { from: 0, to: 3 }), { added: 2, items: [{ after: erased }, {}] });
  t.match(await ask(api, `/${id}/items/remove`, { ids: [item!.id] }), { version: 4, removed: 1 });
});

t.test('with a request go the calls that experiments made of items from it, and no others', async (t) => {
  const { sql } = api.database;
  const datasetId = await create(api);
  const [requestId, otherId] = [await seed(), await seed()];
  await ask(api, `/${datasetId}/items/from-requests`, { requestIds: [requestId, otherId] });
  const made = await api.call('/v1/experiment', {
    body: { name: 'Again', datasetId, target: { kind: 'replay' } },
  });
  const { id } = made.body.data as { id: string };
  /** Claims the run of an item and, unless its call is under way yet, completes it; returns the call's id. */
  const called = async (source: string, isCompleted: boolean) => {
    const callId = newRequestId();
    if (isCompleted)
      await insertRequests(sql, api.own.organizationId, [{ request_id: callId, request_text: REQUEST }]);
    await sql`
      update assay.experiment_runs r
         set call_id = ${callId}, request_id = ${isCompleted ? callId : null}, state = ${isCompleted ? 'completed' : 'running'}
        from assay.dataset_items i
       where r.experiment_id = ${id} and i.dataset_id = ${datasetId} and i.item_id = r.item_id
         and i.source_request_id = ${source}`;
    return callId;
  };
  const [call, other] = [await called(requestId, true), await called(otherId, true)];
  t.equal((await eraseRequest(requestId)).status, 200);
  t.equal((await api.call(`/v1/request/${call}`)).status, 404);
  t.equal((await api.call(`/v1/request/${other}`)).status, 200);
  const underWay = await called(otherId, false);
  t.equal((await eraseRequest(otherId)).status, 200);
  const [tombstone] = await sql`select from assay.erased_requests where request_id = ${underWay}`;
  t.ok(tombstone, 'a call that is stored later is dropped');
});

t.test('with a request go the calls of items that were made from calls of its items', async (t) => {
  const requestId = await seed();
  const gone = [requestId];
  for (const [status, state] of [
    [200, 'completed'],
    [200, 'completed'],
    [500, 'error'],
  ] as const) {
    const datasetId = await create(api);
    await ask(api, `/${datasetId}/items/from-requests`, { requestIds: [gone.at(-1)] });
    const [item] = await itemsOf(api, datasetId);
    const body = { name: 'Ours', datasetId, target: { kind: 'external' } };
    const { id } = (await api.call('/v1/experiment', { body })).body.data as { id: string };
    const call = await seed();
    await api.database.sql`update assay.requests set status = ${status} where request_id = ${call}`;
    const output = { itemId: item!.id, requestId: call };
    t.match((await api.call(`/v1/experiment/${id}/output`, { body: output })).body, { data: { state } });
    gone.push(call);
  }
  const other = await seed();
  t.equal((await eraseRequest(requestId)).status, 200);
  for (const id of gone) t.equal((await api.call(`/v1/request/${id}`)).status, 404);
  t.equal((await api.call(`/v1/request/${other}`)).status, 200);
});

t.test('an erasure that waits for an import keeps nobody waiting who stores a record', async (t) => {
  const { sql } = api.database;
  const datasetId = await create(api);
  const requestId = await seed();
  // An import holds the row of its dataset, and the next one waits for it in the middle.
  const held = await openTransaction(
    sql,
    (tx) => tx`select from assay.datasets where dataset_id = ${datasetId} for update`,
  );
  t.teardown(() => held.end());
  const importing = put(api, datasetId, [asking('Question')]);
  await waitFor('the import to wait', async () => (await waitingForLocks(sql)) === 1);
  const erasing = eraseRequest(requestId);
  await waitFor('the erasure to wait', async () => (await waitingForLocks(sql)) === 2);
  const found = sql.begin(async (tx) => {
    await tx`set local lock_timeout = '10s'`;
    return await tx`select assay.find_erased(array[${api.own.organizationId}]::uuid[], array[${requestId}], array[null]::int8[])`;
  });
  t.same([...(await found)], [], 'as ingest looks before it stores');
  await held.end();
  await importing;
  t.equal((await erasing).status, 200);
});

t.test('a request that only a dataset has left is erased by its id, too', async (t) => {
  const id = await create(api);
  const source = '01JBXYZ0000000000000000000';
  await put(api, id, [asking('a secret', { sourceRequestId: source })]);
  t.equal((await eraseRequest(source)).status, 200);
  t.match(await itemsOf(api, id), [{ erased: true }]);
  const items: Item[] = [asking('a secret', { sourceRequestId: source })];
  t.same(await refusal(api, `/${id}/items`, { body: { items } }), [
    400,
    'items.0.sourceRequestId names a request that was erased',
  ]);
});

t.test('a request of another organization with the same id keeps its items', async (t) => {
  const id = await create(api);
  await put(api, id, [asking('ours', { sourceRequestId: '01JBXYZ0000000000000000001' })]);
  const key = api.other.key;
  const answer = await api.call('/v1/request/01JBXYZ0000000000000000001', { method: 'DELETE', key });
  t.equal(answer.status, 404);
  t.match(await itemsOf(api, id), [asking('ours')]);
});

t.test('an item is never made from a request while that is being erased', async (t) => {
  const id = await create(api);
  const requestId = await seed();
  let making: Promise<unknown> | undefined;
  await api.database.sql.begin(async (tx) => {
    await eraseIn(tx, api.own.organizationId, [requestId]);
    making = ask(api, `/${id}/items/from-requests`, { requestIds: [requestId] });
    while ((await waitingForLocks(api.database.sql)) === 0) await new Promise(setImmediate);
  });
  t.match(await making, { version: 0, added: 0, skipped: [{ reason: 'not_found', count: 1 }] });
});
