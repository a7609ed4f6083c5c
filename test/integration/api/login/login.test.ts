/** Log-in with a key and with a link, and what a browser may do with the cookie. */
import t from 'tap';
import type { BrowserSessionJson, MeJson } from '#core/contracts/login.ts';
import { createLoginToken } from '#platform/browser-sessions/mod.ts';
import { createKey, type Scope } from '#platform/keys/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { type Browser, openBrowser } from './browser.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t, { environment: { GATEWAY_PORT: '8787' } });
});

const makeKey = (scopes: readonly Scope[], more: { paths?: string[]; expiresAt?: Date } = {}) =>
  createKey(api.database.sql, { organizationId: api.own.organizationId, scopes, ...more });

async function loggedIn(key = api.own.key): Promise<Browser> {
  const browser = openBrowser(api.url);
  const { status, error } = await browser.logIn({ key });
  if (status !== 200) throw new Error(`${status} ${error}`);
  return browser;
}

const sessionsOf = async (browser: Browser) =>
  (await browser.call('/v1/login/sessions')).data as BrowserSessionJson[];

t.test('a log-in with a key sets a cookie that acts as the key until it is logged out', async (t) => {
  const { key, record } = await makeKey(['read']);
  const browser = openBrowser(api.url);
  const answer = await browser.logIn({ key: ` ${key} ` });
  t.match(answer.setCookie, /^assay=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
  const me = answer.data as MeJson;
  t.match(me, {
    organization: { id: api.own.organizationId, name: 'own' },
    key: { id: record.keyId, scopes: ['read'], state: 'active' },
    via: 'session',
    session: { user_agent: 'Test/1.0' },
    gateway_url: 'http://127.0.0.1:8787',
  });
  t.equal(Date.parse(me.session!.expires_at) - Date.parse(me.session!.created_at), 7 * 86_400_000);
  t.strictSame((await browser.call('/v1/me')).data, me);
  const query = { method: 'POST', body: { filter: 'all' } };
  t.equal((await browser.call('/v1/request/query', query)).status, 200);
  t.match(await browser.call('/v1/keys'), { status: 403, error: /lacks the scope write/ });
  const { cookie } = browser;
  const out = await browser.call('/v1/logout', { method: 'POST' });
  t.match(out, { status: 200, setCookie: /^assay=; Path=\/; .*Max-Age=0$/ });
  browser.cookie = cookie;
  t.match(await browser.call('/v1/me'), { status: 401, error: 'This log-in has ended: log in again' });
  const [row] = await api.database.sql`
    select count(*)::int as count from assay.browser_sessions where key_id = ${record.keyId}`;
  t.equal(row!.count, 0);
});

t.test('the database holds no secret of a cookie or of a link', async (t) => {
  const browser = await loggedIn();
  const { sql } = api.database;
  const [{ keyId }] = await sql<[{ keyId: string }]>`select key_id as "keyId" from assay.api_keys limit 1`;
  const token = await createLoginToken(sql, keyId, Date.now());
  const rows = await sql<{ row: string }[]>`
    select s::text as row from assay.browser_sessions s union all select l::text from assay.login_tokens l
    union all select a::text from assay.audit_log a`;
  const text = rows.map(({ row }) => row).join('\n');
  for (const secret of [browser.cookie.split('=')[1]!, token]) {
    t.notMatch(text, secret);
    t.notMatch(text, Buffer.from(secret, 'base64url').toString('hex'));
  }
});

t.test('the audit log names the key as the one that began and ended a log-in', async (t) => {
  const { key, record } = await makeKey(['read']);
  const browser = await loggedIn(key);
  await browser.call('/v1/logout', { method: 'POST' });
  const entries = await api.database.sql`
    select action, actor_kind, actor_id, changes::text as changes from assay.audit_log
    where target_kind = 'browser_session' and changes::text like ${`%${record.keyId}%`} order by id`;
  t.match(
    [...entries],
    ['create', 'delete'].map((action) => ({ action, actor_kind: 'api_key', actor_id: record.keyId })),
  );
  t.match(entries[0]!.changes, '"hash": {"changed": true}');
});

t.test('a key that is wrong, revoked, expired or without the scope read logs nobody in', async (t) => {
  const revoked = await makeKey(['read']);
  await api.database.sql`update assay.api_keys set revoked_at = now() where key_id = ${revoked.record.keyId}`;
  const expired = await makeKey(['read'], { expiresAt: new Date(Date.now() - 1_000) });
  const writer = await makeKey(['gateway', 'write']);
  const cases = [
    [{ key: revoked.key }, 401, 'This API key is not valid'],
    [{ key: `sk-assay-${'0'.repeat(43)}` }, 401, 'This API key is not valid'],
    [{ key: '' }, 401, 'This API key is not valid'],
    [{ key: expired.key }, 401, /^This API key expired at /],
    [{ key: writer.key }, 403, 'This API key lacks the scope read, which log-in needs'],
    [{}, 400, 'The body must hold either key or token'],
    [{ key: api.own.key, token: 'x' }, 400, 'The body must hold either key or token'],
    [{ key: ['sk-secret'] }, 400, 'key must be a string'],
    [{ key: 'k'.repeat(5_000) }, 413, /4096 bytes allowed/],
  ] as const;
  for (const [body, status, error] of cases) {
    const answer = await openBrowser(api.url).logIn(body as { key: string });
    t.match(answer, { status, error, setCookie: '' }, JSON.stringify(body));
  }
});

t.test('a link logs in once: of twenty calls with its token at the same moment, one succeeds', async (t) => {
  const { record } = await makeKey(['read']);
  const token = await createLoginToken(api.database.sql, record.keyId, Date.now());
  const browsers = Array.from({ length: 20 }, () => openBrowser(api.url));
  const answers = await Promise.all(browsers.map((browser) => browser.logIn({ token })));
  t.strictSame(
    answers.map(({ status }) => status).sort((one, other) => one - other),
    [200, ...Array(19).fill(401)],
  );
  t.match(answers.find(({ status }) => status === 401)!.error, /^This link was used already, or is too old/);
});

t.test('a link that is ten minutes old logs nobody in, nor does one whose key was revoked', async (t) => {
  const { sql } = api.database;
  const { record } = await makeKey(['read']);
  const old = await createLoginToken(sql, record.keyId, Date.now() - 600_001);
  t.equal((await openBrowser(api.url).logIn({ token: old })).status, 401);
  const token = await createLoginToken(sql, record.keyId, Date.now());
  await sql`update assay.api_keys set revoked_at = now() where key_id = ${record.keyId}`;
  t.equal((await openBrowser(api.url).logIn({ token })).status, 401);
  t.equal((await openBrowser(api.url).logIn({ token: 'x'.repeat(43) })).status, 401);
});

t.test('an address may log in any number of times', async (t) => {
  for (let time = 0; time < 12; time += 1) {
    const answer = await openBrowser(api.url, '127.0.0.8').logIn({ key: api.own.key });
    t.equal(answer.status, 200);
  }
});

t.test('a log-in ends the one that it replaces in its browser, and a try that fails does not', async (t) => {
  for (const nextKey of [api.own.key, api.other.key]) {
    const browser = await loggedIn();
    const elsewhere = await loggedIn();
    const { cookie } = browser;
    t.equal((await browser.logIn({ key: 'sk-assay-wrong' })).status, 401);
    t.equal((await browser.call('/v1/me')).status, 200);
    t.equal((await browser.logIn({ key: nextKey })).status, 200);
    t.not(browser.cookie, cookie);
    t.equal((await browser.call('/v1/me')).status, 200);
    browser.cookie = cookie;
    t.equal((await browser.call('/v1/me')).status, 401, 'the former one');
    t.equal((await elsewhere.call('/v1/me')).status, 200, 'that of another browser stays');
  }
});

t.test(
  'the eleventh try of an address after ten that failed within a minute is refused and says when to try again',
  async (t) => {
    const address = '127.0.0.9';
    for (let tries = 0; tries < 10; tries += 1) {
      const wrong = { key: 'sk-assay-wrong-wrong-wrong' };
      t.equal((await openBrowser(api.url, address).logIn(wrong)).status, 401);
    }
    const refused = await openBrowser(api.url, address).logIn({ key: api.own.key });
    t.equal(refused.status, 429);
    t.match(
      refused.error,
      /^This address has tried to log in 10 times in vain within a minute: try again in \d+ s$/,
    );
    t.equal(
      (await openBrowser(api.url).logIn({ key: api.own.key })).status,
      200,
      'another one is not concerned',
    );
    const waitS = Number(refused.retryAfter);
    t.ok(waitS >= 1 && waitS <= 60, `Retry-After: ${waitS}`);
  },
);

t.test('a browser lists the log-ins of its key alone, and ends one or all others', async (t) => {
  const { key } = await makeKey(['read', 'write']);
  const [first, second, third] = [await loggedIn(key), await loggedIn(key), await loggedIn(key)];
  const stranger = await loggedIn(api.other.key);
  const listed = await sessionsOf(first);
  t.equal(listed.length, 3);
  t.strictSame(listed.map(({ is_current }) => is_current).sort(), [false, false, true]);
  const other = (await sessionsOf(second)).find(({ is_current }) => is_current)!;
  const path = `/v1/login/sessions/${other.id}`;
  t.equal((await stranger.call(path, { method: 'DELETE' })).status, 404, 'not that of another organization');
  t.equal((await first.call(path, { method: 'DELETE' })).status, 200);
  t.equal((await first.call(path, { method: 'DELETE' })).status, 404, 'it is gone');
  t.equal((await second.call('/v1/me')).status, 401);
  t.strictSame((await first.call('/v1/login/sessions', { method: 'DELETE' })).data, { ended: 1 });
  t.equal((await third.call('/v1/me')).status, 401);
  t.equal((await first.call('/v1/me')).status, 200);
  t.equal((await stranger.call('/v1/me')).status, 200);
});

t.test('a key that is confined to other paths can see whom it is, and log out', async (t) => {
  const { key } = await makeKey(['read'], { paths: ['/v1/request/*'] });
  const browser = await loggedIn(key);
  t.equal((await browser.call('/v1/me')).status, 200);
  t.match(await browser.call('/v1/organization'), { status: 403, error: /is confined to/ });
  t.equal((await browser.call('/v1/logout', { method: 'POST' })).status, 200);
});

t.test('a call with its own key is not made as the cookie, and MCP takes no cookie', async (t) => {
  const browser = await loggedIn();
  const asOther = await browser.call('/v1/me', { headers: { authorization: `Bearer ${api.other.key}` } });
  t.match(asOther.data, { organization: { name: 'other' }, via: 'key', session: null });
  const wrong = await browser.call('/v1/me', { headers: { authorization: 'Basic YTpi' } });
  t.match(wrong, { status: 401, error: /^An API key is required/ });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  t.equal((await browser.call('/mcp', { method: 'POST', body: message })).status, 401);
});

t.test('a cookie that is none of this API is a log-in that has ended, however long it is', async (t) => {
  const browser = openBrowser(api.url);
  for (const value of ['', 'x', 'x'.repeat(43), 'x'.repeat(10_240), '%00', '"quoted"']) {
    browser.cookie = `assay=${value}`;
    t.match(await browser.call('/v1/me'), { status: 401, error: 'This log-in has ended: log in again' });
  }
  browser.cookie = 'other=1; assayx=2';
  t.match(await browser.call('/v1/me'), { status: 401, error: /^An API key is required/ });
});

t.test('two cookies of a log-in in one call are refused, in one header as in two', async (t) => {
  const { cookie } = await loggedIn();
  const browser = openBrowser(api.url);
  browser.cookie = `${cookie}; assay=other`;
  t.match(await browser.call('/v1/me'), { status: 400, error: /^The cookie assay is given more than once/ });
  browser.cookie = `theme=dark; ${cookie}`;
  t.equal((await browser.call('/v1/me')).status, 200, 'other cookies do not matter');
});
