/** The life of a key over HTTP: made, used, listed, changed, revoked. */
import { once } from 'node:events';
import { get } from 'node:http';
import t from 'tap';
import { hashApiKey } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { inDays, type Shown, startKeysApi } from './world.ts';

const api = await startKeysApi(t);
const { manager, make, call, sql } = api;

t.test('a made key works at once, is shown once, and is stored as a hash', async (t) => {
  const expiresAt = inDays(30);
  const made = await make({
    name: 'report',
    scopes: ['read', 'read'],
    expires_at: expiresAt,
    models: ['gpt-4o*'],
    providers: ['openai'],
    paths: ['/v1/rate-limit/*'],
    rate_limit_policy: ' 10 ; W=60 ',
    owner: 'ada',
    tags: ['a', 'b'],
  });
  t.match(made.key, /^sk-assay-[0-9A-Za-z]{43}$/);
  const { key, ...shown } = made;
  t.match(shown, {
    name: 'report',
    prefix: key.slice(0, 12),
    state: 'active',
    scopes: ['read'],
    expires_at: expiresAt,
    models: ['gpt-4o*'],
    providers: ['openai'],
    paths: ['/v1/rate-limit/*'],
    rate_limit_policy: '10;w=60;u=request',
    owner: 'ada',
    tags: ['a', 'b'],
    rotated_from: null,
    last_used_at: null,
    revoked_at: null,
  });
  t.equal((await call('/v1/rate-limit/usage', { key })).status, 200);
  const again = await call(`/v1/keys/${made.id}`, { key: manager.key });
  t.same(again.body.data, shown, 'without the key');
  const [row] = await sql`select to_jsonb(k) as row from assay.api_keys k where key_id = ${made.id}`;
  t.notMatch(JSON.stringify(row), key.slice(12));
  t.equal((await sql`select from assay.api_keys where hash = ${hashApiKey(key)}`).length, 1);
});

t.test('what is left out of a new key is as the key of its maker has it', async (t) => {
  const expires_at = inDays(3);
  const confined = {
    expires_at,
    models: ['gpt*'],
    providers: ['openai'],
    paths: ['/v1/keys*'],
    rate_limit_policy: '5;w=60',
  };
  const maker = await make({ scopes: ['read', 'write'], owner: 'ada', tags: ['x'], ...confined });
  const answer = await api.post(maker.key, { name: 'child', scopes: ['read'] });
  t.match(answer.body.data, { ...confined, rate_limit_policy: '5;w=60;u=request', owner: null, tags: [] });
});

t.test('keys are listed newest first, in pages that neither overlap nor skip, and by state', async (t) => {
  const made: Shown[] = [];
  for (let index = 0; index < 3; index += 1) made.push(await make({ name: `listed ${index}` }));
  await call(`/v1/keys/${made[0]!.id}`, { key: manager.key, method: 'DELETE' });
  await sql`update assay.api_keys set expires_at = now() - interval '1 second' where key_id = ${made[1]!.id}`;
  const list = async (query: string) =>
    (await call(`/v1/keys${query}`, { key: manager.key })).body.data as Shown[];
  const all = await list('');
  t.same(
    all.slice(0, 3).map(({ name, state }) => [name, state]),
    [
      ['listed 2', 'active'],
      ['listed 1', 'expired'],
      ['listed 0', 'revoked'],
    ],
  );
  const pages = [
    ...(await list('?limit=2')),
    ...(await list('?limit=2&offset=2')),
    ...(await list('?offset=4')),
  ];
  t.same(
    pages.map(({ id }) => id),
    all.map(({ id }) => id),
  );
  for (const state of ['active', 'expired', 'revoked']) {
    t.same(
      (await list(`?state=${state}`)).map(({ id }) => id),
      all.filter((key) => key.state === state).map(({ id }) => id),
    );
  }
  t.same(await list('?offset=100000'), []);
});

t.test('keys are found by their ids, of the own organization alone', async (t) => {
  const made = [await make({ name: 'one' }), await make({ name: 'two' }), await make({ name: 'three' })];
  const [one, two] = made.map(({ id }) => id);
  const [other] = await sql<{ id: string }[]>`
    select key_id as id from assay.api_keys where organization_id = ${api.other.organizationId}`;
  const foreign = other!.id;
  const list = async (ids: readonly string[], more = '') =>
    ((await call(`/v1/keys?ids=${ids.join()}${more}`, { key: manager.key })).body.data as Shown[]).map(
      ({ id }) => id,
    );
  t.same(await list([one!, two!.toUpperCase(), one!, foreign]), [two, one], 'each once, newest first');
  t.same(await list([foreign]), []);
  t.same(await list([one!, two!], '&limit=1&offset=1'), [one]);
  await call(`/v1/keys/${one}`, { key: manager.key, method: 'DELETE' });
  t.same(await list([one!, two!], '&state=revoked'), [one]);
  t.same(await list(Array.from({ length: 100 }, () => one!)), [one]);
});

t.test('keys are found by a part of what tells them apart, in any case', async (t) => {
  const made = await make({ name: 'Nightly_100%', owner: 'Zoë@example.com', tags: ['x-ray', 'Yankee'] });
  const find = async (search: string) => {
    const { body } = await call(`/v1/keys?search=${encodeURIComponent(search)}`, { key: manager.key });
    return (body.data as Shown[]).map(({ id }) => id);
  };
  for (const text of ['ghtly_100%', 'zoë@', 'YANK', made.id.slice(2, 20)])
    t.same(await find(text), [made.id], text);
  t.same(await find('Nightly%'), [], 'no pattern');
  t.same(await find('a\0b'), []);
});

t.test('a changed key keeps what the body leaves out, and loses what is null', async (t) => {
  const { id } = await make({ models: ['gpt*'], owner: 'ada', tags: ['x'], expires_at: inDays(2) });
  const patch = async (body: object) =>
    (await call(`/v1/keys/${id}`, { key: manager.key, method: 'PATCH', body })).body.data;
  t.match(await patch({}), { models: ['gpt*'], owner: 'ada', tags: ['x'] });
  t.match(
    await patch({ models: null, owner: null, tags: [], expires_at: null, scopes: ['gateway', 'read'] }),
    {
      name: 'made',
      models: null,
      owner: null,
      tags: [],
      expires_at: null,
      scopes: ['gateway', 'read'],
    },
  );
});

t.test('a narrowed key is held to its new bounds within a second', async (t) => {
  const { id, key } = await make();
  t.equal((await call('/v1/rate-limit/usage', { key })).status, 200);
  const body = { paths: ['/v1/request/*'] };
  await call(`/v1/keys/${id}`, { key: manager.key, method: 'PATCH', body });
  await waitFor(
    'the path to be refused',
    async () => (await call('/v1/rate-limit/usage', { key })).status === 403,
  );
  const refused = await call('/v1/rate-limit/usage/', { key });
  t.match(refused.body.error, '/v1/rate-limit/usage: it is confined to /v1/request/*');
  t.equal((await call('/v1/request/count/query', { key, body: { filter: 'all' } })).status, 200);
  t.equal((await call('/v1/request/count/query/', { key, body: { filter: 'all' } })).status, 200);
});

t.test('an encoded path is no way around the paths of a key', async (t) => {
  const { key } = await make({ scopes: ['read', 'write'], paths: ['/v1/request/*'] });
  // Sent as written: `fetch` would resolve the dots.
  for (const path of [
    '/v1/keys/%2e%2e/request/x',
    '/v1/keys/%2E%2E',
    '/v1/%6beys',
    '/v1/keys?x=/v1/request/',
  ]) {
    const { port } = new URL(api.url);
    const [answer] = await once(
      get({ port, path, agent: false, headers: { authorization: `Bearer ${key}` } }),
      'response',
    );
    answer.resume();
    t.match(String(answer.statusCode), /^40[34]$/, path);
  }
});

t.test('a revoked key is refused within a second, and revoking it again changes nothing', async (t) => {
  const { id, key } = await make();
  t.equal((await call('/v1/rate-limit/usage', { key })).status, 200);
  const revoked = await call(`/v1/keys/${id}`, { key: manager.key, method: 'DELETE' });
  t.same([revoked.status, revoked.body.data], [200, null]);
  await waitFor(
    'the key to be refused',
    async () => (await call('/v1/rate-limit/usage', { key })).status === 401,
  );
  const shown = async () => (await call(`/v1/keys/${id}`, { key: manager.key })).body.data as Shown;
  const { revoked_at } = await shown();
  t.equal((await call(`/v1/keys/${id}`, { key: manager.key, method: 'DELETE' })).status, 200);
  t.equal((await shown()).revoked_at, revoked_at);
  const changed = await call(`/v1/keys/${id}`, { key: manager.key, method: 'PATCH', body: { name: 'x' } });
  t.same([changed.status, /is revoked/.test(changed.body.error!)], [409, true]);
});

t.test(
  'an expired key is refused to the second, although it is cached, and can be given more time',
  async (t) => {
    const { id, key } = await make({ expires_at: new Date(Date.now() + 3_000).toISOString() });
    t.equal((await call('/v1/rate-limit/usage', { key })).status, 200, 'cached from now on');
    await sql`alter table assay.api_keys disable trigger keys_changed`;
    await waitFor('the expiry', async () => (await call('/v1/rate-limit/usage', { key })).status === 401);
    await sql`alter table assay.api_keys enable trigger keys_changed`;
    t.match((await call('/v1/rate-limit/usage', { key })).body.error, /^This API key expired at 20/);
    const body = { expires_at: inDays(1) };
    t.equal((await call(`/v1/keys/${id}`, { key: manager.key, method: 'PATCH', body })).status, 200);
    await waitFor(
      'the key to work',
      async () => (await call('/v1/rate-limit/usage', { key })).status === 200,
    );
  },
);

t.test('keys need the scope write, and those of another organization are unknown', async (t) => {
  const { id } = await make();
  const reader = await api.own.keyWith(['read', 'gateway']);
  for (const [path, method] of [
    ['/v1/keys', 'GET'],
    ['/v1/keys', 'POST'],
    [`/v1/keys/${id}`, 'GET'],
    [`/v1/keys/${id}`, 'PATCH'],
    [`/v1/keys/${id}`, 'DELETE'],
    [`/v1/keys/${id}/rotate`, 'POST'],
  ] as const) {
    const body = method === 'POST' || method === 'PATCH' ? { overlapSeconds: 0, name: 'x' } : undefined;
    const given = { method, ...(body && { body }) };
    t.equal((await call(path, { ...given, key: reader })).status, 403, `${method} ${path}`);
    t.equal((await call(path, { ...given, key: null })).status, 401, `${method} ${path}`);
  }
  const foreign = { key: api.other.key };
  const made = '00000000-0000-4000-8000-000000000000';
  for (const [method, suffix, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'taken' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', { overlapSeconds: 0 }],
  ] as const) {
    const of = async (keyId: string) => {
      const answer = await call(`/v1/keys/${keyId}${suffix}`, { ...foreign, method, ...(body && { body }) });
      return [answer.status, answer.body.error?.replace(keyId, 'ID')];
    };
    t.same(await of(id), await of(made), `${method}${suffix}: as a made-up id`);
    t.equal((await of(id))[0], 404);
  }
  const listed = (await call('/v1/keys', foreign)).body.data as Shown[];
  t.equal(
    listed.some((key) => key.id === id),
    false,
  );
});

t.test(
  'without the predicates of the statements, row-level security still hides keys of others',
  async (t) => {
    const seen = await sql.begin(async (tx) => {
      await tx`set local role assay_api`;
      await tx`select set_config('assay.organization', ${api.other.organizationId}, true)`;
      return await tx`select organization_id from assay.api_keys union all select organization_id from assay.organizations`;
    });
    t.ok(seen.length > 0);
    t.same(new Set(seen.map((row) => row.organization_id)), new Set([api.other.organizationId]));
  },
);
