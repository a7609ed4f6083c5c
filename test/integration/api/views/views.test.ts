import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';

type View = { id: string; name: string; page: string; query: string; created_at: string; updated_at: string };

const MOST = 200;
const VIEW = { name: 'Slow', page: 'requests', query: 'q=latency:%3E10s&range=24h&cols=model,cost' };

let api: TestApi;
t.beforeEach(async (t) => {
  api = await startTestApi(t);
});

async function save(body: object): Promise<View> {
  const { status, text, body: answer } = await api.call('/v1/view', { body });
  if (status !== 200) throw new Error(text);
  return answer.data as View;
}
const list = async (page = '', key = api.own.key) =>
  (await api.call(`/v1/view${page}`, { key })).body.data as View[];
const namesOf = (views: readonly View[]) => views.map(({ page, name }) => `${page} ${name}`);

t.test('a saved view is listed with its query as it was given, by page and name', async (t) => {
  const saved = await save(VIEW);
  t.match(saved, VIEW);
  await save({ ...VIEW, name: 'errors', query: '' });
  await save({ ...VIEW, page: 'users' });
  t.same(namesOf(await list()), ['requests errors', 'requests Slow', 'users Slow']);
  t.same(namesOf(await list('?page=users')), ['users Slow']);
  t.same(
    (await list()).find(({ id }) => id === saved.id),
    saved,
  );
});

t.test('a name is taken once on a page, whatever its case', async (t) => {
  const saved = await save({ ...VIEW, name: 'Überblick' });
  const taken = await api.call('/v1/view', { body: { ...VIEW, name: 'ÜBERBLICK' } });
  t.same([taken.status, taken.body.error], [409, 'The page requests has a view of this name already']);
  const other = await save(VIEW);
  const renamed = await api.call(`/v1/view/${other.id}`, { method: 'PATCH', body: { name: 'überblick' } });
  t.equal(renamed.status, 409);
  const itself = await api.call(`/v1/view/${saved.id}`, { method: 'PATCH', body: { name: 'ÜBERBLICK' } });
  t.equal((itself.body.data as View).name, 'ÜBERBLICK', 'a view may change the case of its own name');
});

t.test('of views saved at the same time under one name, one is kept', async (t) => {
  const all = await Promise.all(Array.from({ length: 8 }, () => api.call('/v1/view', { body: VIEW })));
  t.same(all.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(409)]);
});

t.test('a change leaves what it does not name, and a deleted view is gone', async (t) => {
  const saved = await save(VIEW);
  const changed = await api.call(`/v1/view/${saved.id}`, { method: 'PATCH', body: { query: 'q=a' } });
  t.match(changed.body.data, { id: saved.id, name: 'Slow', page: 'requests', query: 'q=a' });
  t.equal((await api.call(`/v1/view/${saved.id}`, { method: 'DELETE' })).status, 200);
  t.same(await list(), []);
  for (const method of ['DELETE', 'PATCH'])
    t.equal(
      (await api.call(`/v1/view/${saved.id}`, { method, ...(method === 'PATCH' && { body: { name: 'x' } }) }))
        .status,
      404,
    );
});

t.test('a view that is changed while it is deleted is changed or gone', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await save({ ...VIEW, name: `view ${round}` });
    const change = () => api.call(`/v1/view/${id}`, { method: 'PATCH', body: { query: 'q=a' } });
    const remove = () => api.call(`/v1/view/${id}`, { method: 'DELETE' });
    const answers = await Promise.all([change(), remove(), change(), change(), remove()]);
    const others = answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 404);
    t.same(others, []);
  }
});

t.test('a view that is none is refused with the rule that it breaks', async (t) => {
  for (const [change, rule] of [
    [{ name: '' }, 'name'],
    [{ name: ' x' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ page: 'keys' }, 'page'],
    [{ query: '?q=a' }, 'query'],
    [{ query: 'q=a#b' }, 'query'],
    [{ query: 'q=a b' }, 'query'],
    [{ query: 'q=<script>' }, 'query'],
    [{ query: 'q=ü' }, 'query'],
    [{ query: 'x'.repeat(4_001) }, 'query'],
    [{ is_shared: true }, 'is_shared'],
  ] as const) {
    const { status, body } = await api.call('/v1/view', { body: { ...VIEW, ...change } });
    t.equal(status, 400, JSON.stringify(change));
    t.match(body.error, rule);
  }
});

t.test('an organization has at most 200 views, and never sees those of another', async (t) => {
  await api.database.sql`
    insert into assay.views (organization_id, page, name, folded_name, query, created_at, updated_at)
    select ${api.own.organizationId}, 'users', 'v' || n, 'v' || n, '', now(), now() from generate_series(1, ${MOST - 1}) n`;
  const saved = await save(VIEW);
  const refused = await api.call('/v1/view', { body: { ...VIEW, name: 'one too many' } });
  t.same(
    [refused.status, refused.body.error],
    [409, `An organization can have at most ${MOST} views: delete one first`],
  );
  t.same(await list('', api.other.key), []);
  const key = api.other.key;
  t.equal((await api.call(`/v1/view/${saved.id}`, { method: 'DELETE', key })).status, 404);
  t.equal(
    (await api.call(`/v1/view/${saved.id}`, { method: 'PATCH', body: { name: 'theirs' }, key })).status,
    404,
  );
  t.equal((await api.call('/v1/view', { body: VIEW, key })).status, 200, 'names of others are free');
});

t.test('each change of a view is in the audit log with its key', async (t) => {
  const saved = await save(VIEW);
  await api.call(`/v1/view/${saved.id}`, { method: 'PATCH', body: { name: 'Slower' } });
  await api.call(`/v1/view/${saved.id}`, { method: 'DELETE' });
  const { body } = await api.call(`/v1/audit?target_kind=view&target_id=${saved.id}`);
  const { entries } = body.data as {
    entries: { action: string; actor: { kind: string }; changes: object }[];
  };
  t.same(
    entries.map(({ action, actor }) => [action, actor.kind]),
    [
      ['delete', 'api_key'],
      ['update', 'api_key'],
      ['create', 'api_key'],
    ],
  );
  t.match(entries[1]!.changes, { name: { from: 'Slow', to: 'Slower' } });
});
