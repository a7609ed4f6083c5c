/** A key with a new secret, beside the old one for a while. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { inDays, type Shown, startKeysApi } from './world.ts';

const api = await startKeysApi(t);
const { manager, make, call, sql } = api;
const rotate = (id: string, overlapSeconds: number, key = manager.key) =>
  call(`/v1/keys/${id}/rotate`, { key, body: { overlapSeconds } });
const works = async (key: string) => (await call('/v1/rate-limit/usage', { key })).status === 200;

t.test('a rotated key is like the old one, which works until the overlap ends', async (t) => {
  const { key, ...old } = await make({
    owner: 'ada',
    tags: ['x'],
    models: ['gpt*'],
    rate_limit_policy: '5;w=60',
  });
  const before = Date.now();
  const { key: newKey, ...made } = (await rotate(old.id, 3_600)).body.data as Shown;
  t.match(made, {
    ...old,
    id: made.id,
    prefix: newKey.slice(0, 12),
    created_at: /^20/,
    rotated_from: old.id,
  });
  t.not(made.id, old.id);
  t.ok(await works(key));
  t.ok(await works(newKey));
  const shown = (await call(`/v1/keys/${old.id}`, { key: manager.key })).body.data as Shown;
  const endsInMs = Date.parse(shown.expires_at!) - before;
  t.ok(endsInMs >= 3_600_000 && endsInMs < 3_660_000, `${endsInMs} ms`);
});

t.test(
  'an overlap of none ends the old key at once, and a longer one gives it no more time than it had',
  async (t) => {
    const first = await make();
    t.ok(await works(first.key));
    t.equal((await rotate(first.id, 0)).status, 200);
    await waitFor('the old key to be refused', async () => !(await works(first.key)));
    const expires_at = inDays(1);
    const second = await make({ expires_at });
    const made = (await rotate(second.id, 20 * 86_400)).body.data as Shown;
    t.equal(made.expires_at, expires_at, 'the new one inherits it');
    const shown = (await call(`/v1/keys/${second.id}`, { key: manager.key })).body.data as Shown;
    t.equal(shown.expires_at, expires_at);
  },
);

t.test('of two rotations of one key at the same moment one is refused, and names the new key', async (t) => {
  const { id } = await make();
  const answers = await Promise.all([rotate(id, 60), rotate(id, 60), rotate(id, 60)]);
  t.same(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  const made = answers.find(({ status }) => status === 200)!.body.data as Shown;
  for (const { status, body } of answers) if (status === 409) t.match(body.error, made.id);
});

t.test('a revoked key and an expired one cannot be rotated', async (t) => {
  const revoked = await make();
  await call(`/v1/keys/${revoked.id}`, { key: manager.key, method: 'DELETE' });
  t.match(await rotate(revoked.id, 0), { status: 409, body: { error: /it is revoked/ } });
  const expired = await make();
  await sql`update assay.api_keys set expires_at = now() - interval '1 second' where key_id = ${expired.id}`;
  t.match(await rotate(expired.id, 0), { status: 409, body: { error: /it has expired/ } });
});

t.test('the overlap is 0 to 30 days', async (t) => {
  const { id } = await make();
  for (const [overlapSeconds, says] of [
    [-1, 'overlapSeconds must be at least 0, but is -1'],
    [30 * 86_400 + 1, 'overlapSeconds must be at most 2592000, but is 2592001'],
    [1.5, 'overlapSeconds must be a whole number, but is 1.5'],
    ['60', 'overlapSeconds must be a whole number, but is "60"'],
  ] as const) {
    const answer = await call(`/v1/keys/${id}/rotate`, { key: manager.key, body: { overlapSeconds } });
    t.same([answer.status, answer.body.error], [400, says]);
  }
  t.match(await call(`/v1/keys/${id}/rotate`, { key: manager.key, body: {} }), {
    status: 400,
    body: { error: 'overlapSeconds is required' },
  });
  t.equal((await rotate(id, 30 * 86_400)).status, 200);
});

t.test('a key can rotate itself', async (t) => {
  const own = await make({ scopes: ['write', 'read'] });
  const made = (await rotate(own.id, 60, own.key)).body.data as Shown;
  t.ok(await works(made.key));
});
