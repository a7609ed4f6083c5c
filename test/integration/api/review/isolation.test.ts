import { randomUUID } from 'node:crypto';
import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { criterion, requests } from '../grades/world.ts';
import { itemsOf, next, queue, shown } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

t.test('a review queue of another organization is answered like an unknown one', async (t) => {
  const [request] = await requests(api, 1);
  const criterionIds = [await criterion(api)];
  const { id } = await queue(api, { criterionIds, source: { requestIds: [request] } });
  const answers = async (queueId: string) => {
    const CALLS: [path: string, call: object][] = [
      ['', {}],
      ['', { method: 'PATCH', body: { name: 'taken over' } }],
      ['', { method: 'DELETE' }],
      ['/next', {}],
      ['/skip', { body: { requestId: request } }],
    ];
    const all: string[][] = [];
    for (const [path, call] of CALLS) {
      const given = { ...call, key: api.other.key };
      const { status, text } = await api.call(`/v1/review-queue/${queueId}${path}`, given);
      all.push([path, String(status), text.replaceAll(queueId, 'ID')]);
    }
    return all;
  };
  const ofOurs = await answers(id);
  t.strictSame(ofOurs, await answers(randomUUID()));
  t.ok(ofOurs.every(([, status]) => status === '404'));
  const list = await api.call('/v1/review-queue/query', { body: {}, key: api.other.key });
  t.same(list.body.data, []);
  t.match(await shown(api, id), { archived_at: null, progress: { items: 1, skipped: 0 } });
});

t.test('a queue takes no criterion, request or evaluator of another organization', async (t) => {
  const [request] = await requests(api, 1);
  const theirs = { name: 'Theirs', kind: { type: 'boolean' } };
  const made = await api.call('/v1/criterion', { body: theirs, key: api.other.key });
  const ofOther = (made.body.data as { id: string }).id;
  const create = (criterionId: string, source: object) =>
    api.call('/v1/review-queue', {
      body: { name: 'Planted', criterionIds: [criterionId], perItem: 1, source },
      key: api.other.key,
    });
  t.equal((await create(await criterion(api), { requestIds: [request] })).status, 404, 'our criterion');
  t.equal((await create(ofOther, { requestIds: [request] })).status, 404, 'our request');
  t.equal((await create(ofOther, { q: '' })).status, 400, 'a filter finds none of ours');
});

t.test(
  'row-level security limits statements on queues to the organization of their transaction',
  async (t) => {
    const [request] = await requests(api, 1);
    const { id } = await queue(api, {
      criterionIds: [await criterion(api)],
      source: { requestIds: [request] },
    });
    await next(api, id);
    await api.call(`/v1/review-queue/${id}/skip`, { body: { requestId: request } });
    const sql = connectAsApi(api.database.url);
    t.teardown(() => sql.end());
    for (const table of ['review_queues', 'review_items', 'review_skips']) {
      const count = async (organizationId: string) =>
        (await inOrganization(sql, organizationId, (tx) => tx`select 1 from ${tx(`assay.${table}`)}`)).length;
      t.ok((await count(api.own.organizationId)) > 0, table);
      t.equal(await count(api.other.organizationId), 0, table);
    }
    t.same(await itemsOf(api, id), [request]);
  },
);

t.test('a key without the needed scope is refused by every route of review queues', async (t) => {
  const [reader, writer] = [await api.own.keyWith(['read']), await api.own.keyWith(['write'])];
  const path = `/v1/review-queue/${randomUUID()}`;
  const CALLS: [method: string, path: string, key: string][] = [
    ['POST', '/v1/review-queue/query', writer],
    ['GET', path, writer],
    ['POST', '/v1/review-queue', reader],
    ['PATCH', path, reader],
    ['DELETE', path, reader],
    ['GET', `${path}/next`, reader],
    ['POST', `${path}/skip`, reader],
  ];
  for (const [method, called, key] of CALLS)
    t.equal((await api.call(called, { method, key })).status, 403, `${method} ${called}`);
});

t.test('changes of review queues are in the audit log', async (t) => {
  const [request] = await requests(api, 1);
  const { id } = await queue(api, {
    criterionIds: [await criterion(api)],
    source: { requestIds: [request] },
  });
  await api.call(`/v1/review-queue/${id}`, { method: 'PATCH', body: { name: 'Audited' } });
  await api.call(`/v1/review-queue/${id}`, { method: 'DELETE' });
  const rows = await api.database.sql<{ action: string; target_kind: string; changes: object }[]>`
    select action, target_kind, changes from assay.audit_log where target_id = ${id} order by id`;
  t.match(rows, [
    { action: 'create', target_kind: 'review_queue' },
    { changes: { name: { to: 'Audited' } } },
    { changes: { archived_at: { from: null } } },
  ]);
});
