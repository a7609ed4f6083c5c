import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const NOON = Date.UTC(2026, 4, 4, 12);

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  const { own, other, database } = api;
  const at = (ms: number) => new Date(NOON + ms);
  await insertRequests(database.sql, own.organizationId, [
    {
      request_id: 'a',
      created_at: at(0),
      properties: { Plan: 'Pro', Zone: 'é 100%_\\' },
      scores: { helpful: 0.5, kind: 1 },
    },
    { request_id: 'b', created_at: at(1), properties: { Plan: 'pro-plus' }, scores: { helpful: -2 } },
    { request_id: 'c', created_at: at(2), properties: { plan: 'free' } },
    { request_id: 'd', created_at: at(3), properties: { Plan: 'free', ['__proto__']: '😀' } },
    { request_id: 'e', created_at: at(4) },
    { request_id: 'judge', created_at: at(5), source: 'evaluator', properties: { Judge: 'yes' } },
  ]);
  await insertRequests(database.sql, other.organizationId, [
    { created_at: at(0), properties: { Secret: 'theirs', Plan: 'theirs' }, scores: { secret: 1 } },
  ]);
});

async function data<Data>(path: string, body?: object, key?: string): Promise<Data> {
  const options = { ...(body === undefined ? {} : { body }), ...(key === undefined ? {} : { key }) };
  const answer = await api.call(path, options);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as Data;
}

const search = (name: string, searchTerm: string) =>
  data<string[]>(`/v1/property/${encodeURIComponent(name)}/search`, { searchTerm });

t.test(
  'the names of properties are listed, the most frequent first, each in its usual spelling',
  async (t) => {
    t.strictSame(await data('/v1/property/keys'), ['Plan', 'Zone', '__proto__']);
    t.strictSame(await data('/v1/property/query', {}), [
      { property: 'Plan' },
      { property: 'Zone' },
      { property: '__proto__' },
    ]);
  },
);

t.test('a property that is set later is listed, too', async (t) => {
  await api.call('/v1/request/e/property', { method: 'PUT', body: { key: 'Team', value: 'blue' } });
  await api.call('/v1/request/a/property', { method: 'PUT', body: { key: 'zone', value: 'new' } });
  t.strictSame(await data('/v1/property/keys'), ['Plan', 'Zone', 'Team', '__proto__']);
  t.strictSame(await search('zone', ''), ['new'], 'in place of the one that was sent');
  await api.call('/v1/request/a/property', { method: 'PUT', body: { key: 'zone', value: 'é 100%_\\' } });
});

t.test(
  'values of a property are found by a part of them, ignoring case, the most frequent first',
  async (t) => {
    t.strictSame(await search('Plan', ''), ['free', 'Pro', 'pro-plus']);
    t.strictSame(await search('PLAN', 'PRO'), ['Pro', 'pro-plus']);
    t.strictSame(await search('Plan', 'xyz'), []);
    t.strictSame(await search('Zone', 'É 100'), ['é 100%_\\']);
    for (const literal of ['%', '_', '\\', '0%_\\'])
      t.strictSame(await search('Zone', literal), ['é 100%_\\'], literal);
    t.strictSame(await search('Plan', '%'), [], 'a pattern is taken literally');
    t.strictSame(await search('__proto__', ''), ['😀']);
    t.strictSame(await search('unknown/\0 name', 'a\0\ud800'), []);
    t.strictSame(await search('n'.repeat(10_000), ''), []);
  },
);

t.test('at most 25 values are listed', async (t) => {
  const rows = Array.from({ length: 30 }, (_, index) => ({ properties: { many: `value ${index}` } }));
  await insertRequests(api.database.sql, api.other.organizationId, rows);
  const found = await data<string[]>('/v1/property/many/search', { searchTerm: 'value' }, api.other.key);
  t.equal(found.length, 25);
});

t.test('score keys are listed with the range of their values', async (t) => {
  t.strictSame(await data('/v1/score/keys'), [
    { key: 'helpful', count: 2, min: -2, max: 0.5 },
    { key: 'kind', count: 1, min: 1, max: 1 },
  ]);
});

t.test('names are those of the own organization, and none where there are no requests', async (t) => {
  t.ok((await data<string[]>('/v1/property/keys', undefined, api.other.key)).includes('Secret'));
  t.match(await data('/v1/score/keys', undefined, api.other.key), [{ key: 'secret', count: 1 }]);
  const gateway = await api.own.keyWith(['gateway']);
  for (const path of ['/v1/property/keys', '/v1/score/keys']) {
    t.equal((await api.call(path, { key: gateway })).status, 403);
    t.equal((await api.call(path, { key: null })).status, 401);
  }
});

t.test('a name that is not encoded as UTF-8 is refused', async (t) => {
  for (const name of ['%ff', '%', '%c3%28']) {
    const answer = await api.call(`/v1/property/${name}/search`, { body: { searchTerm: '' } });
    t.equal(answer.status, 400, name);
  }
});

t.test('a bad body is a 400 that names its field', async (t) => {
  const cases: [path: string, body: unknown, error: RegExp][] = [
    ['/v1/property/query', { filter: 'all' }, /^filter is not a known field/],
    ['/v1/property/query', [], /^body must be an object/],
    ['/v1/property/plan/search', {}, /^searchTerm is required/],
    ['/v1/property/plan/search', { searchTerm: 1 }, /^searchTerm must be a string/],
    [
      '/v1/property/plan/search',
      { searchTerm: 'x'.repeat(10_001) },
      /^searchTerm must have at most 10000 characters/,
    ],
    ['/v1/property/plan/search', { searchTerm: '', limit: 1 }, /^limit is not a known field/],
  ];
  for (const [path, body, error] of cases) {
    const answer = await api.call(path, { body });
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 100));
    t.match(answer.body.error, error);
  }
});

/** Records whose names are counted. */
const NEWEST = 5_000;

t.test(
  'names that only older records have follow those of the newest, as they are spelled there',
  async (t) => {
    const { sql } = api.database;
    const { organizationId, key } = api.other;
    const nowMs = Date.now();
    const at = (ms: number) => new Date(nowMs + ms);
    const rows = Array.from({ length: NEWEST }, (_, index) => ({ created_at: at(index) }));
    await insertRequests(sql, organizationId, [
      { created_at: at(-2), properties: { 'Old Name': 'x' } },
      ...rows,
    ]);
    await insertRequests(sql, organizationId, [{ created_at: at(NEWEST), properties: { Newest: 'x' } }]);
    t.strictSame(
      await data('/v1/property/keys', undefined, key),
      ['Newest'],
      'not before they are rolled up',
    );
    await registerRollups(sql);
    await applyAllChanges(sql);
    await recomputeAll(sql);
    const names = await data<string[]>('/v1/property/keys', undefined, key);
    t.equal(names[0], 'Newest');
    t.strictSame([...names].sort(), ['Newest', 'Old Name', 'Plan', 'Secret', 'many']);
    t.strictSame(
      await data('/v1/property/keys'),
      ['Plan', 'Zone', 'Team', '__proto__'],
      'no one of evaluators',
    );
  },
);

t.test('score keys of days are read from roll-ups, and newer scores from the rows', async (t) => {
  const { sql } = api.database;
  const { organizationId } = api.own;
  const helpful = { key: 'helpful', count: 2, min: -2, max: 0.5 };
  const kind = { key: 'kind', count: 1, min: 1, max: 1 };
  t.strictSame(await data('/v1/score/keys'), [helpful, kind], 'the same as from rows');
  const put = await api.call('/v1/request/c/score', { body: { scores: { kind: 3 } } });
  t.equal(put.status, 200, put.text);
  t.strictSame(await data('/v1/score/keys'), [helpful, { key: 'kind', count: 2, min: 1, max: 3 }]);
  await applyAllChanges(sql);
  await recomputeAll(sql);
  await sql`update assay.rollup_scores set value_max = 7 where organization_id = ${organizationId} and key = 'helpful'`;
  t.match(await data('/v1/score/keys'), [
    { key: 'helpful', max: 7 },
    { key: 'kind', max: 3 },
  ]);
});
