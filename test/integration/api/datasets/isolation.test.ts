import t from 'tap';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { asking, create, itemsOf, put } from './world.ts';

const NOTHING = '00000000-0000-4000-8000-000000000000';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const callsOf = (id: string): [path: string, call: object][] => [
  [`/${id}`, {}],
  [`/${id}`, { method: 'PATCH', body: { name: 'theirs' } }],
  [`/${id}`, { method: 'DELETE' }],
  [`/${id}/items`, { body: { items: [] } }],
  [`/${id}/items/remove`, { body: { ids: ['x'] } }],
  [`/${id}/items/query`, { body: {} }],
  [`/${id}/items/x`, {}],
  [`/${id}/items/import`, { body: { format: 'jsonl', text: '' } }],
  [`/${id}/items/from-requests`, { body: { filter: 'all' } }],
  [`/${id}/export`, {}],
  [`/${id}/versions`, {}],
  [`/${id}/diff`, { body: { from: 0, to: 1 } }],
];

t.test('a dataset of another organization is answered like one that is not there', async (t) => {
  const id = await create(api);
  await put(api, id, [asking('ours')]);
  const answers = async (of: string) =>
    Promise.all(
      callsOf(of).map(async ([path, call]) => {
        const { status, body } = await api.call(`/v1/dataset${path}`, { ...call, key: api.other.key });
        return [path, status, body.error].map((one) => String(one).replaceAll(of, 'ID'));
      }),
    );
  const theirs = await answers(id);
  t.same(theirs, await answers(NOTHING));
  t.ok(theirs.every(([, status]) => status === '404'));
  t.same(await answers('no-id').then((all) => new Set(all.map(([, status]) => status))), new Set(['404']));
  t.match(await itemsOf(api, id), [asking('ours')]);
});

t.test('a key without the needed scope is refused by every route of datasets', async (t) => {
  const [reader, writer] = await Promise.all([api.own.keyWith(['read']), api.own.keyWith(['write'])]);
  for (const [path, call] of [
    ...callsOf(NOTHING),
    ['/query', { body: {} }] as const,
    ['', { body: {} }] as const,
  ]) {
    const statuses = await Promise.all(
      [reader, writer].map(async (key) => (await api.call(`/v1/dataset${path}`, { ...call, key })).status),
    );
    t.equal(statuses.filter((status) => status === 403).length, 1, `${path} ${JSON.stringify(call)}`);
  }
});

t.test('row-level security confines statements on datasets to one organization', async (t) => {
  const sql = connectAsApi(api.database.url);
  t.teardown(() => sql.end());
  const id = await create(api);
  await put(api, id, [asking('ours')]);
  const counts = (tx: TransactionSql) =>
    Promise.all(
      ['datasets', 'dataset_versions', 'dataset_items'].map(
        async (table) => (await tx`select from ${tx(`assay.${table}`)} where dataset_id = ${id}`).length,
      ),
    );
  t.same(await inOrganization(sql, api.own.organizationId, counts), [1, 1, 1]);
  t.same(await inOrganization(sql, api.other.organizationId, counts), [0, 0, 0]);
  for (const table of ['datasets', 'dataset_versions', 'dataset_items']) {
    await t.rejects(
      inOrganization(sql, api.own.organizationId, (tx) => tx`delete from ${tx(`assay.${table}`)}`),
      { code: '42501' },
    );
  }
  await t.rejects(
    inOrganization(sql, api.own.organizationId, (tx) => tx`update assay.dataset_items set request = '{}'`),
    { code: '42501' },
    'content never changes',
  );
});
