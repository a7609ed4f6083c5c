import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { type ApiAppOptions, createApiApp } from '../../../../api/app.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';

const HTML = { accept: 'text/html' };

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const get = (path: string, headers: Record<string, string> = HTML, method = 'GET') =>
  fetch(`${api.url}${path}`, { method, headers });

/** Returns the address of the script of the page. */
async function scriptOf(page: Response): Promise<string> {
  return /<script type="module" src="([^"]+)">/.exec(await page.text())?.[1] ?? '';
}

t.test('any path that a browser asks for is the page, which runs nothing but its own files', async (t) => {
  for (const path of ['/', '/requests', '/requests/01ARZ3NDEKTSV4RRFFQ69G5FAV?tab=raw', '/nowhere']) {
    const page = await get(path);
    t.equal(page.status, 200, path);
    t.match(await page.text(), /<script type="module" src="\/assets\/main-\w+\.js">/, path);
  }
  const { headers } = await get('/');
  const policy = headers.get('content-security-policy') ?? '';
  t.same(policy.split('; ').sort(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "img-src 'self' data: blob:",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    'trusted-types assay-workers',
    "worker-src 'self'",
  ]);
  t.match(Object.fromEntries(headers), {
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});

t.test('the pages that people begin with name every file that they need before the first call', async (t) => {
  for (const [path, own] of [
    ['/', /^overview-/],
    ['/requests', /^requests-/],
  ] as const) {
    const page = await (await get(path)).text();
    const named = [...page.matchAll(/(?:modulepreload" href|module" src)="\/assets\/([^"]+)"/g)].map(
      ([, name]) => name!,
    );
    t.ok(
      named.some((name) => own.test(name)),
      path,
    );
    for (const name of named) {
      const script = await (await get(`/assets/${name}`)).text();
      const needed = [...script.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, file]) => file!);
      t.same(
        needed.filter((file) => !named.includes(file)),
        [],
        `${path}: ${name}`,
      );
    }
  }
});

t.test('a path of the API and a program without Accept get the 404 of the API', async (t) => {
  for (const [path, headers] of [
    ['/v1/nowhere', HTML],
    ['/assets/main.js', HTML],
    ['/nowhere', { accept: 'application/json' }],
  ] as const) {
    const answer = await get(path, headers);
    t.equal(answer.status, 404, path);
    t.equal(answer.headers.get('content-type'), 'application/json', path);
  }
});

t.test('a file comes in the coding that the browser likes best, and may be kept for good', async (t) => {
  const path = await scriptOf(await get('/'));
  const codings = [
    ['identity', (bytes: Buffer) => bytes],
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const;
  const texts = await Promise.all(
    codings.map(async ([coding, decode]) => {
      // Unlike fetch it decodes nothing.
      const { headers, body } = await request(`${api.url}${path}`, {
        headers: { 'accept-encoding': coding },
      });
      t.equal(headers['content-encoding'] ?? 'identity', coding);
      t.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
      t.equal(headers.vary, 'Accept-Encoding');
      return decode(Buffer.from(await body.bytes())).toString();
    }),
  );
  t.equal(new Set(texts).size, 1, 'the same text in each coding');
  t.match(texts[0], /^\/\/# allFunctionsCalledOnLoad\nimport/, 'as V8 is to compile it');
});

t.test('HEAD has the headers of GET, for a page and for a file', async (t) => {
  for (const path of ['/', await scriptOf(await get('/')), '/openapi']) {
    const [head, whole] = [await get(path, HTML, 'HEAD'), await get(path)];
    t.equal(head.status, 200, path);
    t.equal(await head.text(), '', path);
    t.equal(head.headers.get('content-security-policy'), whole.headers.get('content-security-policy'), path);
  }
});

t.test(
  'without the dashboard there are no pages, and without its build one that says what builds it',
  async (t) => {
    const off = await startTestApi(t, { environment: { API_DASHBOARD: 'false' } });
    for (const path of ['/', '/openapi']) {
      const answer = await off.call(path, { headers: HTML });
      t.equal(answer.status, 404, path);
      t.match(answer.body.error, /^There is no GET/, path);
    }
    // No handler of the API runs here, so that no other part is needed.
    const parts = new Proxy({}, { get: (_, name) => (name === 'dashboard' ? null : {}) });
    const app = createApiApp(parts as ApiAppOptions);
    for (const path of ['/', '/openapi']) {
      const page = await app.fetch(new Request(`http://127.0.0.1${path}`, { headers: HTML }));
      t.equal(page.status, 503, path);
      t.match(await page.text(), /<p>The dashboard is not built: <code>npm start<\/code> builds it/, path);
    }
  },
);
