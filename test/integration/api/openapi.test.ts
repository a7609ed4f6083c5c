/** The document at `/openapi.json`: the golden file, and that the server does what it says. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { apiRoutes } from '../../support/api-contract.ts';
import { seedExamples } from '../../support/api-examples.ts';
import { type EvaluatorApi, startEvaluatorApi } from '../../support/evaluators-process.ts';

const GOLDEN = fileURLToPath(new URL('../../../docs/api/openapi.json', import.meta.url));

/** Whether a route is for a browser without a key yet: test/integration/api/login calls these. */
const isForBrowsers = ({ path }: { path: string }) => /^\/v1\/log(?:in|out)$/.test(path);

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

// Every route answers its example, one after the other.
t.test('the document of the server is the golden file docs/api/openapi.json', async (t) => {
  const { status, text, headers } = await api.call('/openapi.json', { key: null });
  t.equal(status, 200, 'without a key');
  t.equal(headers.get('content-type'), 'application/json');
  const served = `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, served);
  t.equal(served, readFileSync(GOLDEN, 'utf8'), 'else: node test/integration/api/openapi.test.ts --write');
});

t.test(
  'every reference of the document leads to a schema, and every path parameter is declared',
  async (t) => {
    const { text } = await api.call('/openapi.json');
    const document = JSON.parse(text);
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      t.ok(name in document.components.schemas, name);
    }
    for (const [path, operations] of Object.entries<
      Record<string, { parameters?: { name: string; in: string }[] }>
    >(document.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        const declared = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
        t.same(declared, named, `${method} ${path}`);
      }
    }
  },
);

t.test(
  'every route declares its reply, an example of its body and, where it takes a key, its scope',
  async (t) => {
    for (const { method, path, hooks } of apiRoutes) {
      if (path === '/openapi.json') continue;
      t.ok(hooks.response, `${method} ${path} declares its reply`);
      if (!isForBrowsers({ path })) {
        t.match(
          hooks.detail?.security,
          [{ apiKey: [/^(read|write|gateway)$/] }],
          `${method} ${path} declares its scope`,
        );
      }
      if (hooks.body !== undefined) t.ok(hooks.body.example, `${method} ${path} has an example`);
    }
  },
);

t.test('every route answers its own example with the success that it declares', async (t) => {
  const { pathOf, exampleOf } = await seedExamples(api);
  // A key is stored before it is looked at, and what is deleted is not needed any more.
  const order = ['PUT', 'POST', 'GET', 'DELETE'];
  const routes = apiRoutes
    // The playground needs a gateway, and has tests of its own.
    .filter((route) => !isForBrowsers(route) && route.path !== '/v1/playground')
    .toSorted((one, other) => order.indexOf(one.method) - order.indexOf(other.method));
  for (const route of routes) {
    const { method, path } = route;
    const example = exampleOf(route);
    // The client of these tests holds each response against what the route declares.
    const answer = await api.call(pathOf(method, path), {
      method,
      headers: { accept: 'application/json, text/event-stream' },
      ...(example === undefined ? {} : { body: example }),
    });
    t.equal(answer.status, 200, `${method} ${path}: ${answer.body?.error ?? ''}`);
  }
});
