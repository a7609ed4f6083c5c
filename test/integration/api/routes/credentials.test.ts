/** Every documented route with every kind of credential: who gets in, and what another organization sees or changes. */
import t, { type Test } from 'tap';
import { createKey, revokeKey, type Scope } from '#platform/keys/mod.ts';
import { apiRoutes } from '../../../support/api-contract.ts';
import { type ApiExamples, seedExamples } from '../../../support/api-examples.ts';
import {
  type EvaluatorApi,
  SECRET_KEY_TEXT,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { startUnconfined } from '../../../support/unconfined.ts';
import { createWorld } from '../../../support/world.ts';

/** Routes that take a key. */
const routes = apiRoutes.flatMap((route) => {
  const [security] = (route.hooks.detail?.security ?? []) as { apiKey: [Scope] }[];
  return security === undefined ? [] : [{ ...route, scope: security.apiKey[0] }];
});
type Route = (typeof routes)[number];
/** Those that concern what is stored: the playground calls a gateway, which has tests of its own. */
const storeRoutes = routes.filter(({ scope }) => scope !== 'gateway');

/** Whether a path names a thing of one organization; providers and names of properties are the same for all. */
const namesThing = ({ path }: Route) => path.includes('/:') && !/\/:(provider|key)\b/.test(path);

let api: EvaluatorApi;
let examples: ApiExamples;
t.before(async () => {
  api = await startEvaluatorApi(t);
  examples = await seedExamples(api);
});

/** Calls a route with its example, by the ids of the own organization. */
async function call(route: Route, key: string | null, url = api.url) {
  const { method, path } = route;
  const example = examples.exampleOf(route);
  const headers: Record<string, string> = { accept: 'application/json, text/event-stream' };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  if (example !== undefined) headers['content-type'] = 'application/json';
  const body = example === undefined ? {} : { body: JSON.stringify(example) };
  const response = await fetch(url + examples.pathOf(method, path), { method, headers, ...body });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function makeKey(scopes: readonly Scope[]) {
  return createKey(api.database.sql, { organizationId: api.own.organizationId, scopes });
}

t.test('without a valid key every route is a 401 that says nothing of what is there', async (t) => {
  const revoked = await makeKey(['read', 'write']);
  await revokeKey(api.database.sql, revoked.record.keyId);
  const expired = await makeKey(['read', 'write']);
  await api.database.sql`
    update assay.api_keys set expires_at = now() - interval '1 second' where key_id = ${expired.record.keyId}`;
  for (const route of routes) {
    for (const key of [null, 'sk-assay-unknown-unknown-unknown', revoked.key, expired.key]) {
      const { status, headers, text } = await call(route, key);
      t.equal(status, 401, `${route.method} ${route.path}`);
      t.equal(headers.get('www-authenticate'), 'Bearer');
      for (const mark of examples.marks) t.notOk(text.includes(mark));
    }
  }
});

t.test('a key without the scope of a route is a 403 that names the scope', async (t) => {
  const scopes: Scope[] = ['gateway', 'read', 'write'];
  for (const scope of ['read', 'write'] as const) {
    const { key } = await makeKey(scopes.filter((other) => other !== scope));
    for (const route of routes.filter((one) => one.scope === scope)) {
      const { status, text } = await call(route, key);
      t.equal(status, 403, `${route.method} ${route.path}`);
      t.match(text, `lacks the scope ${scope}`);
    }
  }
});

/** What is evaluated by itself each minute. */
const WRITTEN_BY_THE_API = ['alert_runs'];

/** Digests of what the own organization has, by table. */
async function digests(): Promise<Record<string, string>> {
  const { sql, own } = { sql: api.database.sql, own: api.own.organizationId };
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
    where c.relnamespace = 'assay'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all(${WRITTEN_BY_THE_API}::text[])
    order by 1`;
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ digest: string }[]>`
      select md5(coalesce(string_agg(r::text, '|' order by r::text), '')) as digest
      from ${sql(`assay.${name}`)} r where organization_id = ${own}`;
    found[name] = row!.digest;
  }
  return found;
}

/** Calls every route as another organization, which must find nothing and change nothing. */
async function trespass(t: Test, url: string): Promise<void> {
  const before = await digests();
  t.ok(Object.keys(before).length > 10, 'tables of organizations are found');
  // Trials run code of the caller, and know no ids.
  const tried = storeRoutes.filter(({ path }) => !path.endsWith('/test'));
  // Together: a request that is not there is waited for.
  const answers = await Promise.all(
    tried.map(async (route) => ({ route, ...(await call(route, api.other.key, url)) })),
  );
  for (const { route, status, text } of answers) {
    const what = `${route.method} ${route.path}`;
    if (namesThing(route)) t.equal(status, 404, `${what} knows no such thing`);
    // 409: the second time, its own evaluator of the example's name is there.
    else t.ok([200, 404, 409].includes(status), `${what}: ${status} ${text}`);
    // A failure may repeat the id that the caller sent.
    if (status !== 200) continue;
    for (const mark of examples.marks) t.notOk(text.includes(mark), `${what} shows nothing of another`);
  }
  t.strictSame(await digests(), before, 'and nothing of it has changed');
}

t.test('another organization finds and changes nothing by any route', async (t) => {
  await api.process.stop();
  await trespass(t, api.url);
});

t.test('row-level security alone keeps organizations apart on every route', async (t) => {
  const unconfined = await startUnconfined(api.database.url);
  t.teardown(() => unconfined.close());
  const { start } = await createWorld(t, api.database);
  const { url } = await start('api', { DATABASE_URL: unconfined.url, SECRET_KEY: SECRET_KEY_TEXT });
  await trespass(t, url);
  t.ok(unconfined.count() > routes.length / 2, `${unconfined.count()} predicates were taken out`);
});

t.test(
  "every table of organizations that the API's role can touch is under row-level security",
  async (t) => {
    const open = await api.database.sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
    where c.relnamespace = 'assay'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
      and has_any_column_privilege('assay_api', c.oid, 'select, insert, update')
      and not c.relrowsecurity
      -- A view that has the rights of its reader is under the policies of its tables.
      and not coalesce('security_invoker=true' = any(c.reloptions), false)`;
    t.strictSame([...open], []);
  },
);
