/** `GET /v1/models` needs no key, and every listed model can be called. */
import { performance } from 'node:perf_hooks';
import OpenAI from 'openai';
import t from 'tap';
import { BUILT_IN_CATALOG, type CatalogModel } from '#core/models/mod.ts';
import { serve } from '#platform/http-server/mod.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { createGatewayApp } from '../../../../gateway/app.ts';
import { type ModelLists, routableModels } from '../../../../gateway/models/mod.ts';
import { createModelLists } from '../../../../gateway/models/model-list.ts';
import { createResolver } from '../../../../gateway/providers/resolve.ts';
import { leastOf } from '../../../support/least-of.ts';
import { configOf } from '../../../support/world.ts';

const route = createResolver(configOf({}).providers);
const listed = routableModels(BUILT_IN_CATALOG.chatModels(), route);

async function serveModels(models: ModelLists) {
  const app = createGatewayApp({
    ports: { gateway: null, api: null },
    handleCall: async () => new Response(null, { status: 500 }),
    models,
    health: { metrics: createMetrics('gateway'), checks: {} },
  });
  const server = await serve({ fetch: app.fetch, host: '127.0.0.1', port: 0 });
  t.teardown(() => server.close(0));
  return server.url;
}

const url = await serveModels(createModelLists(listed, () => null));
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
const ANTHROPIC = { 'anthropic-version': '2023-06-01' };

type Entry = { id: string; object: string; created: number; owned_by: string };
type AnthropicPage = {
  data: { type: string; id: string; display_name: string; created_at: string }[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
};

t.test("the list of models needs no key and has exactly OpenAI's fields, on both paths", async (t) => {
  const texts = new Set<string>();
  for (const path of ['/v1/models', '/models', '/v1/models/', '/v1/models?limit=1']) {
    const answer = await get(path);
    t.equal(answer.status, 200, path);
    t.equal(answer.headers.get('content-type'), 'application/json');
    t.match(answer.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
    texts.add(await answer.text());
  }
  t.equal(texts.size, 1, 'the same bytes');
  const list = JSON.parse([...texts][0]!) as { object: string; data: Entry[] };
  t.same(Object.keys(list), ['object', 'data']);
  t.equal(list.object, 'list');
  t.equal(list.data.length, listed.length);
  for (const entry of list.data) {
    t.same(Object.keys(entry), ['id', 'object', 'created', 'owned_by'], entry.id);
    t.ok(Number.isInteger(entry.created) && entry.object === 'model' && entry.owned_by !== '', entry.id);
  }
  const ids = list.data.map(({ id }) => id);
  t.same(ids, [...ids].sort(), 'in the order of ids');
  t.equal(new Set(ids).size, ids.length, 'each once');
  t.ok(ids.includes('gpt-4o-mini'));
});

t.test('every listed model is routed to its provider under its bare id', async (t) => {
  for (const { id, provider } of listed) t.match(route(id), { provider, model: id }, id);
});

t.test('a model that no configured provider serves is not listed', async (t) => {
  const models: CatalogModel[] = ['azure/eu-gpt', 'custom/llama', 'gpt-4o', 'no-such-model'].map((id) => ({
    id,
    provider: 'custom',
    title: id,
    ownedBy: 'acme',
    created: 1,
  }));
  const routed = (environment: Record<string, string>) => {
    return routableModels(models, createResolver(configOf(environment).providers)).map(({ id }) => id);
  };
  t.same(routed({}), ['gpt-4o']);
  t.same(
    routed({
      CUSTOM_BASE_URL: 'http://127.0.0.1:9/v1',
      AZURE_OPENAI_ENDPOINT: 'https://eu.openai.azure.com',
    }),
    ['azure/eu-gpt', 'custom/llama', 'gpt-4o'],
  );
  const defect = () => {
    throw new TypeError('a defect');
  };
  t.throws(() => routableModels(models, defect), TypeError, 'a defect is not taken for a missing way');
});

t.test('a model is found by its id, plain or percent-encoded', async (t) => {
  const withSlash = listed.find(({ id }) => id.includes('/'))!;
  for (const path of [
    '/v1/models/gpt-4o-mini',
    '/models/gpt-4o-mini',
    `/v1/models/${withSlash.id}`,
    `/v1/models/${encodeURIComponent(withSlash.id)}`,
  ]) {
    const answer = await get(path);
    t.equal(answer.status, 200, path);
    const id = path.endsWith('gpt-4o-mini') ? 'gpt-4o-mini' : withSlash.id;
    const { created, ownedBy } = listed.find((model) => model.id === id)!;
    t.same(await answer.json(), { id, object: 'model', created, owned_by: ownedBy });
  }
});

t.test('a dated snapshot of a listed model is found by its whole id', async (t) => {
  for (const [id, created] of [
    ['claude-sonnet-4-5-20250929', Date.UTC(2025, 8, 29)],
    ['claude-haiku-4-5-20251001', Date.UTC(2025, 9, 1)],
    ['claude-opus-5-20260724', Date.UTC(2026, 6, 24)],
  ] as const) {
    const answer = await get(`/v1/models/${id}`);
    t.equal(answer.status, 200, id);
    t.same(await answer.json(), { id, object: 'model', created: created / 1_000, owned_by: 'anthropic' });
    const anthropic = await get(`/v1/models/${id}`, ANTHROPIC);
    t.match(await anthropic.json(), {
      type: 'model',
      id,
      created_at: new Date(created).toISOString().replace('.000Z', 'Z'),
    });
  }
  for (const id of ['claude-sonnet-4-5-20251399', 'claude-0-20250929', 'claude-3-opus-20240229', '-20250929'])
    t.equal((await get(`/v1/models/${id}`)).status, 404, id);
});

t.test("an unknown model is a 404 of OpenAI's shape", async (t) => {
  for (const [path, shown] of [
    ['/v1/models/gpt-0', 'gpt-0'],
    ['/models/%E0%A4%A', '%E0%A4%A'],
    [`/v1/models/${'x'.repeat(500)}`, `${'x'.repeat(80)}…`],
    ['/v1/models/constructor', 'constructor'],
  ] as const) {
    const answer = await get(path);
    t.equal(answer.status, 404, path);
    t.equal(answer.headers.get('cache-control'), null);
    t.same(await answer.json(), {
      error: {
        message: `The model '${shown}' does not exist here: GET /v1/models lists those that do`,
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    });
  }
});

t.test('a client that has the current list gets a 304 without a body', async (t) => {
  const first = await get('/v1/models');
  const etag = first.headers.get('etag')!;
  t.match(etag, /^"[\w-]{27}"$/);
  t.equal(first.headers.get('cache-control'), 'public, max-age=1');
  t.equal(first.headers.get('vary'), 'anthropic-version');
  for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await get('/v1/models', { 'if-none-match': condition });
    t.equal(again.status, 304, condition);
    t.equal(again.headers.get('etag'), etag);
    t.match(again.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
    t.equal(await again.text(), '');
  }
  for (const condition of ['"other"', etag.slice(1, -1), '']) {
    t.equal((await get('/v1/models', { 'if-none-match': condition })).status, 200, condition);
  }
  const other = await get('/v1/models', { ...ANTHROPIC, 'if-none-match': etag });
  t.equal(other.status, 200, 'another dialect is another list');
  t.equal((await get('/v1/models/gpt-4o-mini', { 'if-none-match': etag })).status, 200);
});

t.test('the ETag of a list depends on its models alone', async (t) => {
  const tag = (models: CatalogModel[]) =>
    createModelLists(models, () => null).list('openai', new URLSearchParams()).etag;
  t.equal(tag(listed), tag([...listed].reverse()));
  t.not(tag(listed), tag(listed.slice(1)));
});

t.test('HEAD on the list of models returns the headers of GET without a body', async (t) => {
  for (const path of ['/v1/models', '/models/gpt-4o-mini']) {
    const [whole, head] = [await get(path), await fetch(`${url}${path}`, { method: 'HEAD' })];
    t.equal(head.status, 200);
    const length = Buffer.byteLength(await whole.text());
    t.equal(head.headers.get('content-length'), String(length));
    t.equal(whole.headers.get('content-length'), String(length));
    t.equal(head.headers.get('etag'), whole.headers.get('etag'));
    t.equal(await head.text(), '');
  }
});

t.test('another method on the models paths is a 405 that lists the allowed ones', async (t) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of ['/v1/models', '/models', '/v1/models/gpt-4o-mini']) {
      const answer = await fetch(`${url}${path}`, { method });
      t.equal(answer.status, 405, `${method} ${path}`);
      t.equal(answer.headers.get('allow'), 'GET, HEAD');
      t.match(await answer.json(), { error: { code: 'method_not_allowed', type: 'invalid_request_error' } });
    }
  }
});

t.test("an internal failure of the models list has OpenAI's error format, without details", async (t) => {
  const broken = await serveModels({
    list: () => {
      throw new Error('secret detail');
    },
    one: () => {
      throw new Error('secret detail');
    },
  });
  for (const path of ['/v1/models', '/models/gpt-4o']) {
    const answer = await fetch(`${broken}${path}`);
    t.equal(answer.status, 500);
    const text = await answer.text();
    t.match(JSON.parse(text), { error: { message: /^The gateway failed/, type: 'internal_error' } });
    t.notMatch(text, 'secret');
  }
});

t.test("a client that sends anthropic-version gets Anthropic's list, the newest model first", async (t) => {
  const list = (await (await get('/v1/models', ANTHROPIC)).json()) as AnthropicPage;
  t.same(Object.keys(list), ['data', 'first_id', 'has_more', 'last_id']);
  t.equal(list.data.length, listed.length, 'whole, when no page is asked for');
  t.equal(list.has_more, false);
  t.equal(list.first_id, list.data[0]!.id);
  t.equal(list.last_id, list.data.at(-1)!.id);
  const times = list.data.map(({ created_at }) => Date.parse(created_at));
  t.same(
    times,
    [...times].sort((a, b) => b - a),
  );
  t.same(
    list.data.find(({ id }) => id === 'gpt-4o-2024-08-06'),
    {
      type: 'model',
      id: 'gpt-4o-2024-08-06',
      display_name: 'gpt-4o-2024-08-06',
      created_at: '2024-08-06T00:00:00Z',
    },
  );
  const one = await (await get('/v1/models/gpt-4o-mini', ANTHROPIC)).json();
  t.match(one, { type: 'model', id: 'gpt-4o-mini', created_at: '2024-07-18T00:00:00Z' });
});

t.test("the pages of Anthropic's list, in both directions, are the whole list", async (t) => {
  const pageAt = async (query: string) =>
    (await (await get(`/v1/models?${query}`, ANTHROPIC)).json()) as AnthropicPage;
  const all = (await pageAt('')).data.map(({ id }) => id);
  const forward: string[] = [];
  for (
    let page = await pageAt('limit=50');
    ;
    page = await pageAt(`limit=50&after_id=${encodeURIComponent(page.last_id!)}`)
  ) {
    forward.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    t.equal(page.data.length, 50);
  }
  t.same(forward, all);
  const backward: string[] = [];
  for (let before = all.at(-1)!; ; ) {
    const page = await pageAt(`limit=70&before_id=${encodeURIComponent(before)}`);
    backward.unshift(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    before = page.first_id!;
  }
  t.same(backward, all.slice(0, -1));
  t.same(await pageAt(`after_id=${encodeURIComponent(all.at(-1)!)}`), {
    data: [],
    first_id: null,
    has_more: false,
    last_id: null,
  });
});

t.test("an invalid page of Anthropic's list is refused in Anthropic's error format", async (t) => {
  for (const [query, message] of [
    ['limit=0', 'limit must be a whole number from 1 to 1000, but is "0"'],
    ['limit=1001', 'limit must be a whole number from 1 to 1000, but is "1001"'],
    ['limit=ten', 'limit must be a whole number from 1 to 1000, but is "ten"'],
    ['after_id=gpt-0', 'after_id must be the id of a model of this list, but is "gpt-0"'],
    ['before_id=', 'before_id must be the id of a model of this list, but is ""'],
    ['after_id=gpt-4o&before_id=gpt-4o', 'after_id and before_id exclude each other'],
  ] as const) {
    const answer = await get(`/v1/models?${query}`, ANTHROPIC);
    t.equal(answer.status, 400, query);
    t.same(await answer.json(), { type: 'error', error: { type: 'invalid_request_error', message } });
  }
  const unknown = await get('/v1/models/gpt-0', ANTHROPIC);
  t.equal(unknown.status, 404);
  t.match(await unknown.json(), { type: 'error', error: { type: 'not_found_error' } });
});

t.test("OpenAI's own client lists and retrieves models", async (t) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const ids: string[] = [];
  for await (const { id } of client.models.list()) ids.push(id);
  t.equal(ids.length, listed.length);
  const withSlash = ids.find((id) => id.includes('/'))!;
  t.match(await client.models.retrieve(withSlash), { id: withSlash, object: 'model' });
  await t.rejects(client.models.retrieve('gpt-0'), { status: 404, code: 'model_not_found' });
});

t.test('building a list of models takes less than a millisecond', async (t) => {
  const answers = createModelLists(listed, () => null);
  const parameters = new URLSearchParams();
  const calls = 200;
  const leastMs = await leastOf(
    10,
    async () => {
      const begin = performance.now();
      for (let call = 0; call < calls; call += 1) answers.list('openai', parameters);
      return (performance.now() - begin) / calls;
    },
    1,
  );
  t.ok(leastMs < 1, `${leastMs} ms`);
});
