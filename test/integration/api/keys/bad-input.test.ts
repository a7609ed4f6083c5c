/** Bodies and parameters of `/v1/keys` that break a rule, field by field. */
import t from 'tap';
import { type Shown, startKeysApi } from './world.ts';

const api = await startKeysApi(t);
const { manager, make, call, post } = api;
const VALID = { name: 'x', scopes: ['read'] };

const BAD: readonly [body: unknown, says: RegExp][] = [
  [[], /^body must be an object/],
  [{}, /^name is required/],
  [{ name: 'x' }, /^scopes is required/],
  [{ ...VALID, name: '' }, /^name must not be empty/],
  [{ ...VALID, name: 'x'.repeat(101) }, /^name must have at most 100 characters/],
  [{ ...VALID, name: null }, /^name must be a string/],
  [{ ...VALID, scopes: [] }, /^scopes must hold at least 1 items/],
  [{ ...VALID, scopes: ['admin'] }, /^scopes\.0 must be one of "gateway", "read", "write", but is "admin"/],
  [{ ...VALID, scopes: 'read' }, /^scopes must be an array/],
  [{ ...VALID, expires_at: 'tomorrow' }, /^expires_at must be an RFC 3339 timestamp .* but is "tomorrow"/],
  [{ ...VALID, expires_at: '2026-02-30T00:00:00Z' }, /^expires_at must be an RFC 3339 timestamp/],
  // In the year 10000, by its offset.
  [{ ...VALID, expires_at: '9999-12-31T23:59:59.999-12:00' }, /^expires_at must be an RFC 3339 timestamp/],
  [{ ...VALID, expires_at: '2020-01-01T00:00:00Z' }, /^expires_at must be in the future/],
  [{ ...VALID, expires_at: 5 }, /^expires_at must be a string or null/],
  [{ ...VALID, models: [] }, /^models must hold at least 1 items/],
  [{ ...VALID, models: ['gpt 4'] }, /^models\.0 must have 1 to 200 characters of printable ASCII/],
  [{ ...VALID, models: ['a,b'] }, /^models\.0 must have 1 to 200 characters/],
  [{ ...VALID, models: ['x'.repeat(201)] }, /^models\.0 must have 1 to 200 characters/],
  [{ ...VALID, models: Array.from({ length: 51 }, () => 'x') }, /^models must hold at most 50 items/],
  [{ ...VALID, models: 'gpt*' }, /^models must be an array or null/],
  [{ ...VALID, providers: ['OpenAI'] }, /^providers\.0 must be one of "openai"/],
  [{ ...VALID, providers: [] }, /^providers must hold at least 1 items/],
  [{ ...VALID, paths: ['v1/keys'] }, /^paths\.0 must begin with \//],
  [{ ...VALID, paths: ['/\u{1f511}'] }, /^paths\.0 must begin with \//],
  [{ ...VALID, rate_limit_policy: '10' }, /^Invalid rate-limit policy: w is missing/],
  [{ ...VALID, rate_limit_policy: 10 }, /^rate_limit_policy must be a string or null/],
  [{ ...VALID, owner: '' }, /^owner must not be empty/],
  [{ ...VALID, owner: 'x'.repeat(10_000) }, /^owner must have at most 200 characters/],
  [{ ...VALID, tags: Array.from({ length: 21 }, () => 'x') }, /^tags must hold at most 20 items/],
  [{ ...VALID, tags: ['x'.repeat(51)] }, /^tags\.0 must have at most 50 characters/],
  [{ ...VALID, tags: null }, /^tags must be an array/],
  [{ ...VALID, key: 'sk-assay-mine' }, /^key is not a known field/],
];

t.test('a body that breaks a rule is refused, and no key is made', async (t) => {
  const [before] = await api.sql`select count(*) from assay.api_keys`;
  for (const [body, says] of BAD) {
    const answer = await post(manager.key, body);
    t.match([answer.status, answer.body.error], [400, says], JSON.stringify(body).slice(0, 80));
  }
  t.same((await api.sql`select count(*) from assay.api_keys`)[0], before);
});

t.test('a change is held to the same rules, and changes nothing when it breaks one', async (t) => {
  const { id } = await make({ name: 'as it was' });
  for (const [body, says] of BAD.slice(3)) {
    const answer = await call(`/v1/keys/${id}`, { key: manager.key, method: 'PATCH', body });
    t.match([answer.status, answer.body.error], [400, says]);
  }
  const shown = (await call(`/v1/keys/${id}`, { key: manager.key })).body.data as Shown;
  t.equal(shown.name, 'as it was');
});

t.test('parameters of the list are checked', async (t) => {
  for (const [query, says] of [
    ['?state=dead', /^state must be one of "active", "expired", "revoked", but is "dead"/],
    ['?limit=0', /^limit must be a whole number from 1 to 100, but is "0"/],
    ['?limit=101', /^limit must be a whole number/],
    ['?offset=-1', /^offset must be a whole number of at least 0/],
    ['?ids=', /^ids must be 1 to 100 ids of keys, separated by commas, but is ""/],
    ['?ids=x', /^ids must be 1 to 100 ids/],
    [`?ids=${manager.id},`, /^ids must be 1 to 100 ids/],
    [`?ids=${Array.from({ length: 101 }, () => manager.id).join()}`, /^ids must be 1 to 100 ids/],
    ['?page=2', /^page is not a known field/],
    ['?limit=1&search=x&limit=2', /^limit must be given once, but is given more than once/],
  ] as const) {
    const answer = await call(`/v1/keys${query}`, { key: manager.key });
    t.match([answer.status, answer.body.error], [400, says], query);
  }
});

t.test('a text that Postgres cannot hold is stored with U+FFFD, and others as they are', async (t) => {
  const { id } = await make({ name: 'a\0b\ud800', owner: '\u{1f511} — "Ada"', tags: ['\0'] });
  const shown = (await call(`/v1/keys/${id}`, { key: manager.key })).body.data as Shown;
  t.same([shown.name, shown.owner, shown.tags], ['a\ufffdb\ufffd', '\u{1f511} — "Ada"', ['\ufffd']]);
});

t.test('an id that is none is as unknown as a made-up one', async (t) => {
  for (const id of ['x', '%00', '00000000-0000-4000-8000-000000000000']) {
    t.equal((await call(`/v1/keys/${id}`, { key: manager.key })).status, 404, id);
  }
});
