/** What a key may not do with keys: make one wider than itself, or lock its organization out. */
import t from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { inDays, type Shown, startKeysApi } from './world.ts';

const api = await startKeysApi(t);
const { manager, make, call, post } = api;

const CONFINED = {
  name: 'confined',
  scopes: ['write', 'read'],
  expires_at: inDays(10),
  models: ['gpt-4o*', 'anthropic/*'],
  providers: ['openai', 'anthropic'],
  paths: ['/v1/keys*', '/v1/request/*'],
  rate_limit_policy: '100;w=60',
};

const WIDER: readonly [what: string, body: object][] = [
  ['scopes', { scopes: ['gateway'] }],
  ['scopes', { scopes: ['read', 'gateway'] }],
  ['models', { models: null }],
  ['models', { models: ['gpt-4*'] }],
  ['models', { models: ['gpt-4o', '*'] }],
  ['providers', { providers: null }],
  ['providers', { providers: ['openai', 'groq'] }],
  ['paths', { paths: null }],
  ['paths', { paths: ['/v1/*'] }],
  ['rate_limit_policy', { rate_limit_policy: null }],
  ['rate_limit_policy', { rate_limit_policy: '101;w=60' }],
  ['rate_limit_policy', { rate_limit_policy: '1;w=60;s=user' }],
  ['rate_limit_policy', { rate_limit_policy: '1;w=60;u=cents' }],
  ['expires_at', { expires_at: null }],
  ['expires_at', { expires_at: inDays(11) }],
];

t.test('a key makes, widens and rotates no key that is wider than itself', async (t) => {
  const confined = await make(CONFINED);
  const child = (await post(confined.key, { name: 'child', scopes: ['read'] })).body.data as Shown;
  for (const [field, body] of WIDER) {
    const refused = await post(confined.key, { name: 'wide', scopes: ['read'], ...body });
    t.match(refused, { status: 403, body: { error: new RegExp(`wider than the caller's own: ${field}: `) } });
    const patched = await call(`/v1/keys/${child.id}`, { key: confined.key, method: 'PATCH', body });
    t.match(patched, { status: 403, body: { error: new RegExp(`: ${field}: `) } });
    const wide = await make({ ...CONFINED, ...body });
    const rotated = await call(`/v1/keys/${wide.id}/rotate`, {
      key: confined.key,
      body: { overlapSeconds: 0 },
    });
    t.match(rotated, { status: 403, body: { error: new RegExp(`: ${field}: `) } });
    const narrowed = await call(`/v1/keys/${wide.id}`, {
      key: confined.key,
      method: 'PATCH',
      body: CONFINED,
    });
    t.equal(narrowed.status, 403, 'nor does it change one that is wider');
  }
  const after = (await call(`/v1/keys/${child.id}`, { key: manager.key })).body.data as Shown;
  t.match(after, { scopes: ['read'], models: CONFINED.models, expires_at: CONFINED.expires_at });
  const narrow = {
    models: ['gpt-4o-mini', 'anthropic/claude-*'],
    rate_limit_policy: '100;w=120',
    expires_at: inDays(9),
  };
  t.equal(
    (await call(`/v1/keys/${child.id}`, { key: confined.key, method: 'PATCH', body: narrow })).status,
    200,
  );
});

t.test('a key narrows itself and does not widen itself again', async (t) => {
  const own = await make({ scopes: ['read', 'write'] });
  const patch = (body: object) => call(`/v1/keys/${own.id}`, { key: own.key, method: 'PATCH', body });
  t.equal((await patch({ scopes: ['write'], models: ['gpt*'] })).status, 200);
  t.match(await patch({ models: null }), { status: 403 });
  t.match(await patch({ scopes: ['read', 'write'] }), { status: 403 });
});

t.test('a key that is narrowed while it makes another is held to its new bounds', async (t) => {
  const own = await make({ scopes: ['read', 'write'] });
  t.equal((await post(own.key, { name: 'a', scopes: ['read'] })).status, 200, 'cached from now on');
  await api.sql`alter table assay.api_keys disable trigger keys_changed`;
  const body = { models: ['gpt*'] };
  await call(`/v1/keys/${own.id}`, { key: manager.key, method: 'PATCH', body });
  const made = await post(own.key, { name: 'b', scopes: ['read'], models: null });
  await api.sql`alter table assay.api_keys enable trigger keys_changed`;
  t.equal(made.status, 403, 'although the process does not know yet');
});

/** An organization of its own with these keys, of which the first one calls. */
async function lockable(...wanted: { days?: number; paths?: string[] }[]) {
  const [row] = await api.sql<{ id: string }[]>`
    insert into assay.organizations (name) values (${`lockable ${Math.random()}`}) returning organization_id as id`;
  const made: { key: string; id: string }[] = [];
  for (const { days, paths = null } of wanted) {
    const expiresAt = days === undefined ? null : new Date(inDays(days));
    const { key, record } = await createKey(api.sql, {
      organizationId: row!.id,
      scopes: ['write'],
      paths,
      expiresAt,
    });
    made.push({ key, id: record.keyId });
  }
  const [caller] = made;
  const revoke = (index: number, by = caller!.key) =>
    call(`/v1/keys/${made[index]!.id}`, { key: by, method: 'DELETE' });
  const patch = (index: number, body: object) =>
    call(`/v1/keys/${made[index]!.id}`, { key: caller!.key, method: 'PATCH', body });
  return { made, revoke, patch };
}

t.test('the last key that can manage keys is neither revoked nor changed into one that cannot', async (t) => {
  const { made, revoke, patch } = await lockable({});
  for (const body of [
    { scopes: ['write', 'read'] },
    { paths: ['/v1/request/*'] },
    { expires_at: inDays(1) },
  ]) {
    const status = (await patch(0, body)).status;
    t.equal(status, 'scopes' in body ? 403 : 409, JSON.stringify(body));
  }
  t.match(await revoke(0), { status: 409, body: { error: /is the last one .* make another one first$/ } });
  t.equal((await patch(0, { paths: ['/v1/keys*'], name: 'still a manager' })).status, 200);
  t.equal((await call('/v1/keys', { key: made[0]!.key })).status, 200);
});

t.test(
  'a key that ends earlier, or cannot reach the keys, does not stand in for the last manager',
  async (t) => {
    const { revoke } = await lockable({ days: 1 }, {}, { paths: ['/v1/request/*'] });
    t.equal((await revoke(1)).status, 409, 'the key that never expires');
    t.equal((await revoke(2)).status, 200, 'a key that manages nothing');
    t.equal((await revoke(0)).status, 200, 'itself, as another one lives longer');
  },
);

t.test('two keys that revoke each other at the same moment leave one', async (t) => {
  const pairs = await Promise.all(Array.from({ length: 6 }, () => lockable({}, {})));
  // Known to the process from here on, so that both reach the transaction.
  for (const { made } of pairs) for (const { key } of made) await call('/v1/keys', { key });
  for (const { made, revoke } of pairs) {
    const [one, other] = made;
    const answers = await Promise.all([revoke(0, other!.key), revoke(1, one!.key)]);
    const statuses = answers.map(({ status }) => status).sort();
    t.equal(statuses[0], 200);
    t.match(String(statuses[1]), /^(401|409)$/);
    const left = await api.sql`
      select from assay.api_keys where key_id in ${api.sql(made.map(({ id }) => id))} and revoked_at is null`;
    t.equal(left.length, 1);
  }
});

t.test('a key may revoke itself while another manager is there', async (t) => {
  const { made, revoke } = await lockable({}, {});
  t.equal((await revoke(0)).status, 200);
  await waitFor(
    'it to be refused',
    async () => (await call('/v1/keys', { key: made[0]!.key })).status === 401,
  );
});

t.test(
  'an organization has at most 10,000 active keys, those that a rotation leaves valid among them',
  async (t) => {
    const world = await startKeysApi(t);
    const { id } = await world.make();
    await world.sql`
    insert into assay.api_keys (organization_id, prefix, hash, scopes)
    select ${world.own.organizationId}, 'sk-assay-xxx', sha256(n::text::bytea), array['read']
      from generate_series((select count(*) + 1 from assay.api_keys where organization_id = ${world.own.organizationId}), 10000) n`;
    const rotate = (overlapSeconds: number) =>
      world.call(`/v1/keys/${id}/rotate`, { key: world.manager.key, body: { overlapSeconds } });
    const most = { status: 409, body: { error: /has 10000 keys, which is the most: revoke some$/ } };
    t.match(await world.post(world.manager.key, { name: 'one more', scopes: ['read'] }), most);
    t.match(await rotate(60), most);
    t.equal((await rotate(0)).status, 200, 'the old key ends at once');
  },
);
