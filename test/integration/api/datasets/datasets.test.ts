import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, asking, create, type Dataset, PATH, put, refusal } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

type DatasetPage = { datasets: Dataset[]; next: string | null };

t.test('a new dataset has no version and no items', async (t) => {
  const id = await create(api, { name: 'Refunds', description: 'Of the help desk' });
  const { created_at, updated_at, ...rest } = await ask<Dataset & Record<string, unknown>>(api, `/${id}`);
  t.same(rest, {
    id,
    name: 'Refunds',
    description: 'Of the help desk',
    requestSchema: null,
    expectedSchema: null,
    version: 0,
    items: 0,
    archived_at: null,
  });
  t.equal(created_at, updated_at);
});

t.test('the name of a dataset is unique until the dataset is archived', async (t) => {
  const id = await create(api, { name: 'Taken' });
  const other = await create(api);
  const error = `There is a dataset named "Taken" already: ${id}`;
  t.same(await refusal(api, '', { body: { name: 'Taken' } }), [409, error]);
  t.same(await refusal(api, `/${other}`, { method: 'PATCH', body: { name: 'Taken' } }), [409, error]);
  await ask(api, `/${id}`, undefined, 'DELETE');
  t.equal((await ask<Dataset>(api, `/${other}`, { name: 'Taken' }, 'PATCH')).name, 'Taken');
});

t.test('an archived dataset can be read, and not changed', async (t) => {
  const id = await create(api);
  await put(api, id, [asking('Hello')]);
  await ask(api, `/${id}`, undefined, 'DELETE');
  await ask(api, `/${id}`, undefined, 'DELETE');
  const shown = await ask<Dataset>(api, `/${id}`);
  t.match(shown, { version: 1, items: 1, archived_at: String });
  const error = `The dataset ${id} is archived: it can be read, but not changed`;
  t.same(await refusal(api, `/${id}/items`, { body: { items: [] } }), [409, error]);
  t.same(await refusal(api, `/${id}`, { method: 'PATCH', body: { name: 'x' } }), [409, error]);
  const { datasets } = await ask<DatasetPage>(api, '/query', { archived: true });
  t.ok(datasets.some((one) => one.id === id));
  const living = await ask<DatasetPage>(api, '/query', { limit: 200 });
  t.notOk(living.datasets.some((one) => one.id === id));
});

t.test('a query pages through datasets, the newest first, by a part of the name in any case', async (t) => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift(await create(api, { name: `Paged ÄRGER_${index}` }));
  await api.database.sql`update assay.datasets set created_at = '2026-01-01' where name like 'Paged%'`;
  const found: string[] = [];
  let after: string | null = null;
  do {
    const page: DatasetPage = await ask(api, '/query', {
      search: 'ärger_',
      limit: 2,
      ...(after === null ? {} : { after }),
    });
    found.push(...page.datasets.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  t.same(found, ids.toSorted().toReversed(), 'equal times: in the order of the ids, none twice');
  t.same((await ask<DatasetPage>(api, '/query', { search: 'ärger%' })).datasets, []);
});

t.test('the audit log has who made and archived a dataset, and each version', async (t) => {
  const id = await create(api, { name: 'Audited' });
  await put(api, id, [asking('Hello')], { message: 'the first' });
  await ask(api, `/${id}`, undefined, 'DELETE');
  const { body } = await api.call(`/v1/audit?target_id=${id}`);
  const { entries } = body.data as { entries: { action: string; target: object; changes: object }[] };
  t.match(entries, [
    { action: 'archive', target: { kind: 'dataset' }, changes: { archived_at: { to: String } } },
    { action: 'create', target: { kind: 'dataset_version' }, changes: { message: { to: 'the first' } } },
    { action: 'create', target: { kind: 'dataset' }, changes: { name: { to: 'Audited' } } },
  ]);
  t.equal(entries.length, 3, 'the number that a version takes from its dataset is no change of its own');
});

t.test('an organization has at most 1,000 datasets', async (t) => {
  const { organizationId, keyWith } = api.other;
  const key = await keyWith(['write']);
  await api.database.sql`
    insert into assay.datasets (dataset_id, organization_id, name, created_at, updated_at)
    select gen_random_uuid(), ${organizationId}, 'filler ' || n, now(), now() from generate_series(1, 1000) n`;
  const answer = await api.call(PATH, { key, body: { name: 'one more' } });
  t.same([answer.status, answer.body.error], [409, 'An organization can have at most 1000 datasets']);
});
