/** Where a log-in and its cookie are taken: at which addresses, and from whose pages. */
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';
import { type Browser, openBrowser } from './browser.ts';

let api: TestApi;
/** Behind a proxy that ends TLS. */
let proxied: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  proxied = await startTestApi(t, { environment: { PUBLIC_URL: 'https://Assay.Example.com/' } });
});

async function loggedIn({ url, own }: TestApi, headers: Record<string, string> = {}): Promise<Browser> {
  const browser = openBrowser(url);
  const { status, error } = await browser.logIn({ key: own.key }, { headers });
  if (status !== 200) throw new Error(`${status} ${error}`);
  return browser;
}

/** An address of this machine that is not loopback; null: it has none. */
function otherAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}

type Said = Record<string, string | null>;
/** What browsers say of calls that no page of the API has made. */
const FOREIGN: [what: string, headers: Said][] = [
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['a page of another port of the machine', { 'sec-fetch-site': 'same-site' }],
  ['an address that somebody typed, or a link in a mail', { 'sec-fetch-site': 'none' }],
  ['a page of another origin, in an old browser', { 'sec-fetch-site': null, origin: 'https://evil.example' }],
  ['a sandboxed page', { origin: 'null' }],
  ['two answers', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ['an origin that differs in its scheme', { 'sec-fetch-site': null, origin: 'https://localhost' }],
  ['a program that says nothing', { 'sec-fetch-site': null }],
];

t.test(
  'the cookie is refused in a call that no page of the API has made, a plain GET included',
  async (t) => {
    const browser = await loggedIn(api);
    for (const [what, headers] of FOREIGN) {
      for (const method of ['GET', 'POST']) {
        const path = method === 'GET' ? '/v1/organization' : '/v1/request/query';
        const body = method === 'GET' ? {} : { body: { filter: 'all' } };
        const answer = await browser.call(path, { method, headers, ...body });
        t.match(answer, { status: 403, error: /^A log-in is taken from pages of http:\/\/127/ }, what);
      }
    }
  },
);

t.test('neither log-in nor log-out is taken from a page of another origin', async (t) => {
  const browser = await loggedIn(api);
  for (const [what, headers] of FOREIGN) {
    const answer = await openBrowser(api.url).logIn({ key: api.own.key }, { headers });
    t.match(answer, { status: 403, setCookie: '' }, what);
    t.equal((await browser.call('/v1/logout', { method: 'POST', headers })).status, 403, what);
  }
  t.equal((await browser.call('/v1/me')).status, 200, 'it is still logged in');
});

t.test('an old browser that sends Origin without Sec-Fetch-Site is taken by its origin', async (t) => {
  const headers = { 'sec-fetch-site': null, origin: api.url };
  const browser = openBrowser(api.url);
  t.equal((await browser.logIn({ key: api.own.key }, { headers })).status, 200);
  t.equal((await browser.call('/v1/me', { headers })).status, 200);
});

t.test('a call with the cookie that may change something needs the header Service-Csrf', async (t) => {
  const browser = await loggedIn(api);
  for (const value of [null, '', '0', 'true']) {
    for (const [method, path] of [
      ['POST', '/v1/request/query'],
      ['POST', '/v1/logout'],
      ['DELETE', '/v1/login/sessions'],
      ['PATCH', '/v1/keys/x'],
    ] as const) {
      const answer = await browser.call(path, { method, headers: { 'service-csrf': value } });
      t.match(answer, { status: 403, error: `${method} with a log-in needs the header Service-Csrf: 1` });
    }
  }
  t.equal(
    (await browser.call('/v1/me', { headers: { 'service-csrf': null } })).status,
    200,
    'a GET does not',
  );
});

t.test('a name that somebody else points at this machine gets neither a log-in nor an answer', async (t) => {
  const browser = await loggedIn(api);
  const { port } = new URL(api.url);
  for (const host of [`evil.example:${port}`, `localhost.evil.example:${port}`, '0.0.0.0', 'localhost.']) {
    const headers = { host, origin: null };
    const refused = { status: 403, error: /^Without TLS log-in works on the machine of the API only/ };
    t.match(await browser.call('/v1/me', { headers }), refused, host);
    t.match(await openBrowser(api.url).logIn({ key: api.own.key }, { headers }), refused, host);
  }
});

t.test('every way to write loopback is an address of the dashboard', async (t) => {
  const browser = await loggedIn(api);
  const { port } = new URL(api.url);
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, '127.1.2.3', '[::1]']) {
    t.equal((await browser.call('/v1/me', { headers: { host } })).status, 200, host);
  }
});

t.test('without TLS a caller from another machine cannot log in, whatever name it calls', async (t) => {
  const address = otherAddress();
  if (address === null) {
    t.comment('this machine has loopback alone');
    return;
  }
  const open = await startTestApi(t, { environment: { HOST: '0.0.0.0' } });
  const { port } = new URL(open.url);
  for (const host of [`${address}:${port}`, `localhost:${port}`]) {
    const answer = await openBrowser(`http://${address}:${port}`).logIn(
      { key: open.own.key },
      { headers: { host } },
    );
    t.match(answer, {
      status: 403,
      error: /elsewhere it needs TLS and the dashboard's address in PUBLIC_URL/,
    });
  }
  t.ok(await loggedIn({ ...open, url: `http://127.0.0.1:${port}` }), 'on the machine itself it can');
  // As of a container whose port is published on loopback.
  const published = await startTestApi(t, {
    environment: { HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:8585' },
  });
  const url = `http://${address}:${new URL(published.url).port}`;
  t.ok(await loggedIn({ ...published, url }, { host: '127.0.0.1:8585' }));
});

t.test('behind a proxy that ends TLS the cookie is Secure, and the host is that of PUBLIC_URL', async (t) => {
  const headers = { host: 'assay.example.com', origin: 'https://assay.example.com' };
  const browser = openBrowser(proxied.url);
  const { status, setCookie } = await browser.logIn({ key: proxied.own.key }, { headers });
  t.equal(status, 200);
  t.match(setCookie, /^__Host-assay=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=604800$/);
  t.match(await browser.call('/v1/me', { headers }), { status: 200, data: { gateway_url: null } });
  t.equal((await browser.call('/v1/me')).status, 401, 'on loopback the cookie has another name');
  const elsewhere = await browser.call('/v1/me', { headers: { host: 'assay.example.com:444' } });
  t.match(elsewhere, { status: 403, error: /^Log-in works at https:\/\/assay.example.com \(PUBLIC_URL\)/ });
  const plain = await browser.call('/v1/me', { headers: { ...headers, origin: 'http://assay.example.com' } });
  t.equal(plain.status, 403, 'a page without TLS is another origin');
});

/** Tries to log in with a wrong key, from the address that a proxy has noted. Returns the status. */
async function tryFrom(noted: string): Promise<number> {
  const headers = { host: 'assay.example.com', 'x-forwarded-for': noted };
  return (await openBrowser(proxied.url).logIn({ key: 'sk-assay-wrong-wrong-wrong' }, { headers })).status;
}

t.test('behind a proxy tries are counted by the address that the proxy has noted last', async (t) => {
  for (let tries = 0; tries < 10; tries += 1) {
    t.equal(await tryFrom(`203.0.113.${tries}, 2001:db8:1:2::${tries}`), 401);
  }
  t.equal(await tryFrom('2001:db8:1:2:ffff::1'), 429, 'the same network of IPv6');
  t.equal(await tryFrom('2001:db8:1:3::1'), 401, 'another one');
  t.equal(await tryFrom('198.51.100.1'), 401);
});

t.test('behind a proxy that notes ports, tries are counted by the address without its port', async (t) => {
  for (let tries = 0; tries < 10; tries += 1) {
    t.equal(await tryFrom(`203.0.113.77:${50_000 + tries}`), 401);
    t.equal(await tryFrom(`[2001:db8:7::${tries}]:${50_000 + tries}`), 401);
  }
  t.equal(await tryFrom('203.0.113.77:60000'), 429);
  t.equal(await tryFrom('203.0.113.77'), 429);
  t.equal(await tryFrom('[2001:db8:7::ffff]:60000'), 429);
  t.equal(await tryFrom('203.0.113.78:50000'), 401, 'another address');
});

t.test('with TLS of its own the API takes a log-in on loopback, with a Secure cookie', async (t) => {
  const { certFile, keyFile, remove } = certificateFiles(makeCertificate('localhost'));
  t.teardown(remove);
  const secure = await startTestApi(t, { environment: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } });
  const browser = openBrowser(secure.url);
  const { status, setCookie } = await browser.logIn({ key: secure.own.key });
  t.match({ status, setCookie }, { status: 200, setCookie: /^__Host-assay=.*; Secure;/ });
  t.equal((await browser.call('/v1/me')).status, 200);
});
