/**
 * Two organizations on one installation: whatever one asks for, over every route, nothing of the other comes back, and
 * nothing tells the other's ids apart from ids that do not exist.
 */
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { type Assay, runMain, startAssay, waitFor } from '../../support/assay.ts';
import { seededRandom } from '../../support/random.ts';
import { scriptedProvider } from '../../support/world.ts';

const CALLS = 12;
/** Well-formed, and used by no record. */
const UNKNOWN_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const MODEL = 'gpt-4o-mini';

type Reply = { status: number; body: { data: unknown; error: string | null } };
type LoggedRequest = { request_id: string; request_user_id: string; properties: Record<string, string> };

/** An organization: its secret word is in everything that it sends, and must be in nothing that the other gets. */
type Tenant = {
  name: string;
  key: string;
  secret: string;
  ids: string[];
  api(method: string, path: string, body?: unknown): Promise<Reply>;
};

async function makeKey(assay: Assay, organization: string, scopes: string): Promise<string> {
  const run = runMain(['keys', 'create', '--organization', organization, '--scopes', scopes], {
    DATA_DIR: assay.dataDir,
  });
  const { code } = await run.ended;
  if (code !== 0) throw new Error(run.stderr());
  return run.stdout().split('\n')[0]!;
}

function apiOf(assay: Assay, key: string): Tenant['api'] {
  return async (method, path, body) => {
    const response = await fetch(assay.apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  };
}

/** Makes calls of every kind, and waits until they are logged. */
async function fill(assay: Assay, tenant: Tenant): Promise<void> {
  const headers = {
    'Service-User-Id': `user-${tenant.secret}`,
    'Service-Property-Shared': 'same for both',
    [`Service-Property-${tenant.secret}`]: tenant.secret,
    'Service-Session-Id': 'same for both',
  };
  const client = new OpenAI({
    baseURL: `${assay.gatewayUrl}/v1`,
    apiKey: tenant.key,
    maxRetries: 0,
    defaultHeaders: headers,
  });
  const messages = [{ role: 'user' as const, content: `The word is ${tenant.secret}` }];
  for (let call = 0; call < CALLS; call += 1) {
    const body = { model: MODEL, messages, stream: call % 2 === 1 };
    const { response } = await client.chat.completions.create(body).withResponse();
    tenant.ids.push(response.headers.get('service-request-id') ?? '');
    if (!response.bodyUsed) await response.text();
  }
  await waitFor(`the records of ${tenant.name}`, async () => {
    const { body } = await tenant.api('POST', '/v1/request/count/query', { filter: 'all' });
    return body.data === CALLS;
  });
  for (const id of tenant.ids) {
    await tenant.api('POST', `/v1/request/${id}/feedback`, { rating: true });
    await tenant.api('POST', `/v1/request/${id}/score`, { scores: { quality: 0.5 } });
  }
}

/** Filters that match everything, or aim at the other's records in particular. */
function filtersAt(other: Tenant): unknown[] {
  const [id] = other.ids;
  const everything = [
    'all',
    {},
    { request: { id: { like: '%' } } },
    { request: { user_id: { 'not-equals': 'nobody' } } },
    { request: { created_at: { gt: '2000-01-01T00:00:00Z' } } },
    { response: { status: { gte: 0 } } },
    { response: { cost: { gte: 0 } } },
    { response: { body: { contains: 'word' } } },
    { request: { body: { contains: 'word' } } },
    { values: { 'request.model': { equals: MODEL } } },
    { properties: { shared: { equals: 'same for both' } } },
    { feedback: { rating: { equals: true } } },
    { scores: { quality: { equals: 0.5 } } },
  ];
  const aimed = [
    { request: { id: { equals: id } } },
    { request: { user_id: { equals: `user-${other.secret}` } } },
    { request: { body: { contains: other.secret } } },
    { response: { body: { ilike: `%${other.secret}%` } } },
    { properties: { [other.secret]: { equals: other.secret } } },
    { properties: { [other.secret]: { 'not-equals': null } } },
    { values: { 'request.messages.0.content': { contains: other.secret } } },
  ];
  const branches = aimed.map((left) => ({ left, operator: 'or', right: 'all' }));
  return [...everything, ...aimed, ...branches];
}

async function queriesShowOwnOnly(t: Test, self: Tenant, other: Tenant): Promise<void> {
  const own = new Set(self.ids);
  for (const filter of filtersAt(other)) {
    const { status, body } = await self.api('POST', '/v1/request/query', { filter, limit: 100 });
    const text = JSON.stringify(filter);
    t.equal(status, 200, `${text}: ${body.error}`);
    const records = body.data as LoggedRequest[];
    t.ok(
      records.every((record) => own.has(record.request_id)),
      `${text} finds only its own`,
    );
    t.notMatch(JSON.stringify(body), other.secret);
    const count = await self.api('POST', '/v1/request/count/query', { filter });
    t.equal(count.body.data, records.length, `${text} counts only its own`);
  }
}

async function pagesShowOwnOnly(t: Test, self: Tenant): Promise<void> {
  for (const key of [
    'created_at',
    'latency',
    'cost',
    'tokens',
    'prompt_tokens',
    'completion_tokens',
    'time_to_first_token',
  ]) {
    const seen: string[] = [];
    for (let offset = 0; offset < 2 * CALLS; offset += 5) {
      const { body } = await self.api('POST', '/v1/request/query', {
        filter: 'all',
        sort: { [key]: 'asc' },
        limit: 5,
        offset,
      });
      seen.push(...(body.data as LoggedRequest[]).map((record) => record.request_id));
    }
    t.same(
      seen.toSorted(),
      self.ids.toSorted(),
      `all pages by ${key} together are its own records, each once`,
    );
  }
}

/** Every route that takes an id. */
const BY_ID: [method: string, path: (id: string) => string, body?: unknown][] = [
  ['GET', (id) => `/v1/request/${id}`],
  ['GET', (id) => `/v1/request/${id}/delivery`],
  ['POST', (id) => `/v1/request/${id}/feedback`, { rating: false }],
  ['POST', (id) => `/v1/request/${id}/score`, { scores: { quality: 0, stolen: 1 } }],
  ['PUT', (id) => `/v1/request/${id}/property`, { key: 'stolen', value: 'yes' }],
];

async function idsAreUnknown(t: Test, self: Tenant, other: Tenant): Promise<void> {
  const foreign = other.ids[0]!;
  const before = await other.api('GET', `/v1/request/${foreign}`);
  for (const [method, path, body] of BY_ID) {
    const refused = await self.api(method, path(foreign), body);
    const unknown = await self.api(method, path(UNKNOWN_ID), body);
    t.equal(refused.status, 404, `${method} ${path('{id}')}`);
    t.equal(
      JSON.stringify(refused).replaceAll(foreign, '{id}'),
      JSON.stringify(unknown).replaceAll(UNKNOWN_ID, '{id}'),
      'says the same as of an id that does not exist',
    );
  }
  t.same(await other.api('GET', `/v1/request/${foreign}`), before, 'and the other’s record is unchanged');
  const { body } = await self.api('POST', '/v1/request/query-ids', {
    requestIds: [...other.ids, ...self.ids],
  });
  const found = (body.data as LoggedRequest[]).map((record) => record.request_id);
  t.same(found.toSorted(), self.ids.toSorted(), 'of a list of ids it gets its own');
}

/** A request id that the other has used is free here, and each finds its own record under it. */
async function idsAreSeparate(t: Test, assay: Assay, tenants: readonly [Tenant, Tenant]): Promise<void> {
  const id = '01JD5Z0000SHAREDBYBTHTENNT';
  for (const { key, secret } of tenants) {
    const client = new OpenAI({ baseURL: `${assay.gatewayUrl}/v1`, apiKey: key, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: secret }];
    const headers = { 'Service-Request-Id': id };
    await client.chat.completions.create({ model: MODEL, messages }, { headers });
    await t.rejects(client.chat.completions.create({ model: MODEL, messages }, { headers }), {
      code: 'request_id_in_use',
    } as unknown as Error);
  }
  for (const { api, secret, name } of tenants) {
    await waitFor(`${name}'s record`, async () => (await api('GET', `/v1/request/${id}`)).status === 200);
    t.match(JSON.stringify((await api('GET', `/v1/request/${id}`)).body), secret);
  }
  await tenants[0].api('POST', `/v1/request/${id}/feedback`, { rating: false });
  t.match((await tenants[1].api('GET', `/v1/request/${id}`)).body.data, { feedback_rating: null });
}

async function scopesAreKept(t: Test, assay: Assay): Promise<void> {
  const keys = {
    gateway: await makeKey(assay, 'acme', 'gateway'),
    read: await makeKey(assay, 'acme', 'read'),
  };
  t.equal((await apiOf(assay, keys.gateway)('POST', '/v1/request/query', { filter: 'all' })).status, 403);
  const score = await apiOf(assay, keys.read)('POST', `/v1/request/${UNKNOWN_ID}/score`, {
    scores: { a: 1 },
  });
  t.equal(score.status, 403, 'a key that reads does not write');
  const client = new OpenAI({ baseURL: `${assay.gatewayUrl}/v1`, apiKey: keys.read, maxRetries: 0 });
  const call = client.chat.completions.create({ model: MODEL, messages: [] });
  await t.rejects(call, { status: 403 } as unknown as Error, 'nor calls models');
}

t.test("two organizations see none of each other's requests", async (t) => {
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    environment: { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-test' },
  });
  t.teardown(() => assay.stop());
  const random = seededRandom(Date.now());
  const makeTenant = async (name: string): Promise<Tenant> => {
    const key = await makeKey(assay, name, 'gateway,read,write');
    const secret = `secret${Math.floor(random() * 1e9).toString(36)}of${name}`;
    return { name, key, secret, ids: [], api: apiOf(assay, key) };
  };
  const tenants = [await makeTenant('acme'), await makeTenant('globex')] as const;
  await Promise.all(tenants.map((tenant) => fill(assay, tenant)));

  for (const [self, other] of [tenants, tenants.toReversed() as [Tenant, Tenant]]) {
    await t.test(`${self.name}: queries find only its own requests`, (t) =>
      queriesShowOwnOnly(t, self, other),
    );
    await t.test(`${self.name}: pages hold only its own requests`, (t) => pagesShowOwnOnly(t, self));
    await t.test(`${self.name}: routes by id are 404 for ids of the other organization`, (t) =>
      idsAreUnknown(t, self, other),
    );
  }
  await t.test('two organizations with the same request id have a record each', (t) =>
    idsAreSeparate(t, assay, tenants),
  );
  await t.test('each API key can do only what its scopes allow', (t) => scopesAreKept(t, assay));
});
