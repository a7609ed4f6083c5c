/** What happens in Postgres when the client of a call disconnects while a statement runs for it. */
import t from 'tap';
import type { Scope } from '#platform/keys/mod.ts';
import { apiRoutes } from '../../../support/api-contract.ts';
import { type ApiExamples, seedExamples } from '../../../support/api-examples.ts';
import { waitFor } from '../../../support/assay.ts';
import { type EvaluatorApi, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

/** Less than the 15 s after which Postgres ends a statement by itself. */
const A_MOMENT_MS = 10_000;
/** Tables that the API needs to let a call in, and to report itself. */
const LEFT_OPEN = ['api_keys', 'organizations', 'processes', 'pgmigrations'];
/** Read routes that read no table of these, or wait for something else than a statement. */
const WITHOUT_STATEMENT = 2;

let api: EvaluatorApi;
let examples: ApiExamples;
t.before(async () => {
  api = await startEvaluatorApi(t);
  examples = await seedExamples(api);
});

const scopeOf = (route: (typeof apiRoutes)[number]) =>
  (route.hooks.detail?.security as { apiKey: [Scope] }[] | undefined)?.[0]?.apiKey[0];

/** Locks what calls read, so that a statement of any route waits until `end`. */
async function lockTables() {
  const tables = await api.database.sql<{ name: string }[]>`
    select format('assay.%I', relname) as name from pg_class c
     where relnamespace = 'assay'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all (${LEFT_OPEN}::text[])`;
  return openTransaction(api.database.sql, (tx) =>
    tx.unsafe(`lock table ${tables.map(({ name }) => name).join(', ')} in access exclusive mode`),
  );
}

/** Counts statements that run for calls of the API. */
async function running(): Promise<number> {
  const [row] = await api.database.sql<{ count: number }[]>`
    select count(*)::int from pg_stat_activity
     where datname = current_database() and application_name = 'assay-api' and state <> 'idle'`;
  return row!.count;
}

function startCall(route: (typeof apiRoutes)[number]) {
  const example = examples.exampleOf(route);
  const client = new AbortController();
  const call = { status: 0, disconnect: () => client.abort(), ended: Promise.resolve() };
  call.ended = fetch(api.url + examples.pathOf(route.method, route.path), {
    method: route.method,
    headers: {
      authorization: `Bearer ${api.own.key}`,
      accept: 'application/json, text/event-stream',
      ...(example !== undefined && { 'content-type': 'application/json' }),
    },
    signal: client.signal,
    ...(example !== undefined && { body: JSON.stringify(example) }),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      call.status = response.status;
    },
    () => {},
  );
  return call;
}

t.test('a client that disconnects from any route that reads has its statement cancelled', async (t) => {
  const routes = apiRoutes.filter((route) => scopeOf(route) === 'read' && route.path !== '/mcp');
  const withoutStatement: string[] = [];
  for (const route of routes) {
    const locked = await lockTables();
    const call = startCall(route);
    await waitFor(`a statement of ${route.path}`, async () => call.status !== 0 || (await running()) > 0);
    if (call.status !== 0) withoutStatement.push(`${route.method} ${route.path}`);
    const leftAt = performance.now();
    call.disconnect();
    await waitFor(`the end of the statement of ${route.path}`, async () => (await running()) === 0);
    t.ok(performance.now() - leftAt < A_MOMENT_MS, `${route.method} ${route.path}`);
    await call.ended;
    await locked.end();
  }
  t.ok(withoutStatement.length <= WITHOUT_STATEMENT, withoutStatement.join(', '));
  const count = await api.call('/v1/request/count/query', { body: { filter: 'all' } });
  t.equal(count.status, 200, 'the connections serve the next calls');
});

t.test('a scan of bodies ends when its client disconnects', async (t) => {
  const text = 'a body of a scan '.repeat(2_000);
  const bodies = Array.from({ length: 1_500 }, (_, index) => ({ request_text: `"${index} ${text}"` }));
  await insertRequests(api.database.sql, api.own.organizationId, bodies);
  const count = apiRoutes.find(({ path }) => path === '/v1/request/count/query')!;
  const client = new AbortController();
  const filter = { request: { body: { contains: 'nowhere in them' } } };
  const startedAt = performance.now();
  const whole = await api.call(count.path, { body: { filter } });
  const wholeMs = performance.now() - startedAt;
  t.equal(whole.body.data, 0);
  const call = fetch(api.url + count.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ filter }),
    signal: client.signal,
  });
  call.catch(() => {});
  await waitFor('the scan', async () => (await running()) > 0);
  const leftAt = performance.now();
  client.abort();
  await waitFor('the end of the scan', async () => (await running()) === 0);
  t.comment(`the scan takes ${wholeMs} ms, and ended ${performance.now() - leftAt} ms after its client`);
  t.ok(performance.now() - leftAt < wholeMs);
});

t.test('a change whose client disconnects is made whole', async (t) => {
  const routes = ['/v1/request/:id/feedback', '/v1/request/:id/score', '/v1/webhook'].map(
    (path) => apiRoutes.find((route) => route.path === path && route.method === 'POST')!,
  );
  const webhooks = async () => ((await api.call('/v1/webhook')).body.data as unknown[]).length;
  const before = await webhooks();
  for (const route of routes) {
    const locked = await lockTables();
    const call = startCall(route);
    await waitFor(`a statement of ${route.path}`, async () => (await running()) > 0);
    call.disconnect();
    await call.ended;
    await locked.end();
    await waitFor(`the end of the statement of ${route.path}`, async () => (await running()) === 0);
  }
  const id = examples.pathOf('GET', '/v1/request/:id').split('/').at(-1)!;
  const record = (await api.call(`/v1/request/${id}`)).body.data as Record<string, unknown>;
  t.not(record.feedback_rating ?? null, null);
  t.notSame(record.scores, {});
  t.equal(await webhooks(), before + 1);
});
