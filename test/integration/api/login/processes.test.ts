/** Log-ins over several processes, and their end with their key. */
import t from 'tap';
import { createKey, revokeKey } from '#platform/keys/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld } from '../../../support/world.ts';
import { type Browser, openBrowser } from './browser.ts';

let api: TestApi;
/** The addresses of two API processes on one database. */
let urls: [string, string];
t.before(async () => {
  api = await startTestApi(t);
  const { start } = await createWorld(t, api.database);
  urls = [api.url, (await start('api')).url];
});

const makeKey = () =>
  createKey(api.database.sql, { organizationId: api.own.organizationId, scopes: ['read', 'write'] });

/** Logs in at the first process; the second browser has the same cookie at the second. */
async function loggedIn(key: string): Promise<[Browser, Browser]> {
  const browsers: [Browser, Browser] = [openBrowser(urls[0]), openBrowser(urls[1])];
  const { status, error } = await browsers[0].logIn({ key });
  if (status !== 200) throw new Error(`${status} ${error}`);
  browsers[1].cookie = browsers[0].cookie;
  for (const browser of browsers) t.equal((await browser.call('/v1/me')).status, 200);
  return browsers;
}

/** Waits until the answers to all browsers have this status, and returns the statuses of the last answers. */
async function becomes(browsers: readonly Browser[], path: string, status: number): Promise<number[]> {
  let found: number[] = [];
  await waitFor(`${path} to answer ${status} to all browsers`, async () => {
    found = await Promise.all(browsers.map(async (browser) => (await browser.call(path)).status));
    return found.every((one) => one === status);
  });
  return found;
}

t.test('a log-in at one process works at another, and its end at one is its end at the other', async (t) => {
  const { key } = await makeKey();
  const browsers = await loggedIn(key);
  t.equal((await browsers[1].call('/v1/logout', { method: 'POST' })).status, 200);
  browsers[1].cookie = browsers[0].cookie;
  t.strictSame(await becomes(browsers, '/v1/me', 401), [401, 401]);
});

t.test('a log-in ends with its key, in all processes', async (t) => {
  const { key, record } = await makeKey();
  const browsers = await loggedIn(key);
  await revokeKey(api.database.sql, record.keyId);
  t.strictSame(await becomes(browsers, '/v1/me', 401), [401, 401]);
});

t.test('a log-in has the scopes that its key has now', async (t) => {
  const { key, record } = await makeKey();
  const browsers = await loggedIn(key);
  t.strictSame(await becomes(browsers, '/v1/keys', 200), [200, 200]);
  await api.database.sql`update assay.api_keys set scopes = '{read}' where key_id = ${record.keyId}`;
  t.strictSame(await becomes(browsers, '/v1/keys', 403), [403, 403]);
});

t.test('a log-in whose key has expired is refused as the key is', async (t) => {
  const { key, record } = await makeKey();
  const browsers = await loggedIn(key);
  await api.database.sql`
    update assay.api_keys set expires_at = now() - interval '1 second' where key_id = ${record.keyId}`;
  t.strictSame(await becomes(browsers, '/v1/me', 401), [401, 401]);
  t.match((await browsers[0].call('/v1/me')).error, /^This API key expired at /);
});
