import t from 'tap';
import { parseExactObject } from '#core/json/mod.ts';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { requestRecordFields } from '../../../support/record-fields.ts';
import { generateRequests, insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

/** A fresh organization's key with these requests in it. */
async function withRequests(rows: Partial<SeedRequest>[]): Promise<{ key: string; rows: SeedRequest[] }> {
  organizations += 1;
  const { organizationId } = await createOrganization(api.database.sql, { name: `query-${organizations}` });
  const { key } = await createKey(api.database.sql, { organizationId, scopes: ['read', 'write'] });
  return { key, rows: await insertRequests(api.database.sql, organizationId, rows) };
}
let organizations = 0;

const NOON = Date.UTC(2026, 4, 4, 12);

t.test('a record has the fields of the contract, in its order', async (t) => {
  const { key } = await withRequests([
    {
      request_id: 'full',
      created_at: new Date(NOON),
      response_created_at: new Date(NOON + 1_234),
      user_id: 'user-1',
      properties: { 'User-Tier': 'pro' },
      response_id: 'chatcmpl-1',
      latency_ms: 1_234,
      ttft_ms: 321,
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      cost_nano: 1_234_567_891,
      prompt_id: 'p',
      prompt_version: '3',
      feedback_rating: true,
      scores: { helpful: 0.5 },
      inputs: { city: 'Oslo' },
      request_text: '{"model":"gpt-4o-mini"}',
      response_text: '{"id":"chatcmpl-1"}',
    },
    {
      request_id: 'bare',
      created_at: new Date(NOON - 1),
      request_model: null,
      response_model: null,
      latency_ms: null,
    },
  ]);
  const [full, bare] = await api.query({ filter: 'all', includeInputs: true }, key);
  t.strictSame(Object.keys(full!), [...requestRecordFields, 'inputs']);
  t.strictSame(full, {
    request_id: 'full',
    request_created_at: '2026-05-04T12:00:00.000Z',
    request_body: { model: 'gpt-4o-mini' },
    request_path: '/v1/chat/completions',
    request_user_id: 'user-1',
    request_properties: { 'User-Tier': 'pro' },
    request_model: 'gpt-4o-mini',
    response_id: 'chatcmpl-1',
    response_created_at: '2026-05-04T12:00:01.234Z',
    response_body: { id: 'chatcmpl-1' },
    response_status: 200,
    response_model: 'gpt-4o-mini-2024-07-18',
    provider: 'OPENAI',
    model: 'gpt-4o-mini-2024-07-18',
    delay_ms: 1_234,
    time_to_first_token: 321,
    total_tokens: 15,
    prompt_tokens: 10,
    completion_tokens: 5,
    cost: 1.234567891,
    prompt_id: 'p',
    prompt_version: '3',
    feedback_rating: true,
    scores: { helpful: 0.5 },
    properties: { 'User-Tier': 'pro' },
    inputs: { city: 'Oslo' },
  });
  t.match(bare, {
    request_properties: null,
    properties: {},
    scores: null,
    cost: null,
    delay_ms: null,
    time_to_first_token: null,
    request_model: null,
    feedback_rating: null,
    inputs: {},
  });
  const [plain] = await api.query({ filter: 'all' }, key);
  t.strictSame(Object.keys(plain!), requestRecordFields);
});

t.test('bodies are returned as the text that was stored', async (t) => {
  const odd = '{"a":1,"a":2,"n":12345678901234567890.10,"s":"\\ud800\\u0000","z": [ ] }';
  const { key } = await withRequests([
    { request_text: '{"a":2}', request_raw: Buffer.from(odd), response_text: '{"text":"<html>\\u0009"}' },
  ]);
  const answer = await api.call('/v1/request/query', { key, body: { filter: 'all' } });
  t.ok(answer.text.includes(`"request_body":${odd},`));
  t.ok(answer.text.includes('"response_body":{"text":"<html>\\u0009"},'));
});

t.test('prompt inputs come back and are found with the digits of their numbers', async (t) => {
  const inputs = '{"huge":12345678901234567890,"order":9007199254740993,"share":0.1}';
  const { key } = await withRequests([
    { request_id: 'long', inputs: parseExactObject(inputs), request_text: inputs },
    { request_id: 'other', inputs: { order: 1 }, request_text: '{"order":1}' },
  ]);
  const found = async (filter: string) => {
    const raw = `{"filter":${filter},"includeInputs":true}`;
    return (await api.call('/v1/request/query', { key, raw })).text;
  };
  const asWritten = await found('{"request":{"id":{"equals":"long"}}}');
  t.ok(asWritten.includes(`"inputs":${inputs}`), asWritten);
  for (const name of ['', 'request.']) {
    for (const [field, operand] of [
      ['order', '9007199254740993'],
      ['huge', '12345678901234567890'],
      ['share', '0.1'],
    ]) {
      const text = await found(`{"values":{"${name}${field}":{"equals":${operand}}}}`);
      t.ok(text.includes('"request_id":"long"'), `${name}${field} ${operand}`);
      t.notOk(text.includes('"request_id":"other"'));
    }
  }
});

t.test('numbers beyond those of a double are compared like all others', async (t) => {
  const numbers = { huge: '1e400', lost: '-1e400', tiny: '1e-400', long: `1${'0'.repeat(400)}`, one: '1' };
  const { key } = await withRequests(
    Object.entries(numbers).map(([id, number]) => ({
      request_id: id,
      inputs: parseExactObject(`{"n":${number}}`),
      request_text: `{"n":${number}}`,
    })),
  );
  const found = async (comparison: object) => {
    const byPlace = await Promise.all(
      ['n', 'request.n'].map((place) => api.query({ filter: { values: { [place]: comparison } } }, key)),
    );
    const ids = byPlace.map((rows) => rows.map((row) => row.request_id).sort());
    t.same(ids[0], ids[1], 'in inputs and in bodies');
    return ids[0];
  };
  t.same(await found({ gt: 1 }), ['huge', 'long']);
  t.same(await found({ lt: 0 }), ['lost']);
  t.same(await found({ equals: 0 }), ['tiny']);
  t.same(await found({ lte: 1 }), ['lost', 'one', 'tiny']);
});

t.test('a page of large bodies arrives whole', async (t) => {
  const large = (letter: string) => JSON.stringify({ text: letter.repeat(5 * 1024 * 1024) });
  const { key, rows } = await withRequests(
    ['a', 'b', 'c', 'd', 'é'].map((letter, index) => ({
      created_at: new Date(NOON + index),
      request_text: large(letter),
      response_raw: Buffer.from(large(letter)),
    })),
  );
  const records = await api.query({ filter: 'all', sort: { created_at: 'asc' } }, key);
  t.strictSame(
    records.map(({ request_body, response_body }) =>
      [request_body, response_body].map((body) => JSON.stringify(body)),
    ),
    rows.map(({ request_text, response_raw }) => [request_text, String(response_raw)]),
  );
});

t.test(
  'a page of large prompt inputs and expected answers arrives whole, and a part at a time',
  async (t) => {
    const large = (letter: string) => letter.repeat(3 * 1024 * 1024);
    const { key } = await withRequests(
      ['a', 'b', 'c', 'd', 'é'].map((letter, index) => ({
        created_at: new Date(NOON + index),
        inputs: { article: large(letter) },
        expected: JSON.stringify(large(letter)),
        // Its own batch of bodies, in the second part.
        request_text: JSON.stringify({ text: index < 3 ? letter : large(letter) }),
      })),
    );
    const body = { filter: 'all', sort: { created_at: 'asc' }, includeInputs: true, includeExpected: true };
    const answer = await api.call('/v1/request/query', { key, body });
    t.equal(answer.headers.get('content-length'), null, 'it is written while it is read');
    const records = answer.body.data as {
      inputs: { article: string };
      expected: string;
      request_body: { text: string };
    }[];
    t.strictSame(
      records.map(({ inputs, expected, request_body: { text } }) => [inputs.article, expected, text]),
      ['a', 'b', 'c', 'd', 'é'].map((letter, index) => [
        large(letter),
        large(letter),
        index < 3 ? letter : large(letter),
      ]),
    );
  },
);

const SORTS = {
  created_at: 'request_created_at',
  latency: 'delay_ms',
  cost: 'cost',
  tokens: 'total_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  time_to_first_token: 'time_to_first_token',
} as const;

function compareValues(left: unknown, right: unknown): number {
  if (left === right) return 0;
  return (left as number) < (right as number) ? -1 : 1;
}

t.test(
  'every sort in both directions has nulls last, ties by id, and pages without overlap or gap',
  async (t) => {
    const nullable = (index: number) => (index % 4 === 0 ? null : index % 5);
    const { key } = await withRequests(
      Array.from({ length: 57 }, (_, index) => ({
        request_id: `id-${String((index * 37) % 57).padStart(2, '0')}`,
        created_at: new Date(NOON + (index % 6)),
        latency_ms: nullable(index),
        cost_nano: nullable(index + 1),
        total_tokens: nullable(index + 2),
        prompt_tokens: nullable(index + 3),
        completion_tokens: nullable(index),
        ttft_ms: nullable(index + 1),
        properties: { plan: 'pro' },
      })),
    );
    for (const [sort, field] of Object.entries(SORTS)) {
      for (const direction of ['asc', 'desc']) {
        for (const filter of ['all', { properties: { plan: { equals: 'pro' } } }]) {
          const paged: Record<string, unknown>[] = [];
          for (let offset = 0; offset < 64; offset += 8) {
            paged.push(...(await api.query({ filter, sort: { [sort]: direction }, offset, limit: 8 }, key)));
          }
          const sign = direction === 'asc' ? 1 : -1;
          const sorted = paged.toSorted((left, right) => {
            const [a, b] = [left[field], right[field]];
            if (a === null || b === null)
              return (
                Number(a === null) - Number(b === null) ||
                sign * compareValues(left.request_id, right.request_id)
              );
            return sign * compareValues(a, b) || sign * compareValues(left.request_id, right.request_id);
          });
          const ids = paged.map((record) => record.request_id);
          t.equal(new Set(ids).size, 57, `${sort} ${direction}: each request once`);
          t.strictSame(
            ids,
            sorted.map((record) => record.request_id),
            `${sort} ${direction}: in order`,
          );
        }
      }
    }
  },
);

t.test('limit, offset and sort have defaults and bounds', async (t) => {
  const { key, rows } = await withRequests(
    Array.from({ length: 12 }, (_, index) => ({ created_at: new Date(NOON + index) })),
  );
  const newestFirst = rows.map(({ request_id }) => request_id).reverse();
  const ids = async (body: object) =>
    (await api.query({ filter: 'all', ...body }, key)).map((row) => row.request_id);
  t.strictSame(await ids({}), newestFirst.slice(0, 10));
  t.strictSame(await ids({ limit: 1 }), newestFirst.slice(0, 1));
  t.strictSame(await ids({ limit: 100 }), newestFirst);
  t.strictSame(await ids({ offset: 10 }), newestFirst.slice(10));
  t.strictSame(await ids({ offset: 12 }), []);
  t.strictSame(await ids({ offset: Number.MAX_SAFE_INTEGER }), []);
});

t.test('flags of a query restrict it when true, and not when false', async (t) => {
  const { key } = await withRequests([
    { request_id: 'plain', created_at: new Date(NOON) },
    { request_id: 'cached', created_at: new Date(NOON + 1), cached_from: 'plain' },
    { request_id: 'scored', created_at: new Date(NOON + 2), scores: { a: 1, b: 2 } },
    { request_id: 'experiment', created_at: new Date(NOON + 3), experiment_id: 'e', scores: { a: 1 } },
    { request_id: 'judge', created_at: new Date(NOON + 4), source: 'evaluator', scores: { a: 1 } },
  ]);
  const all = ['experiment', 'scored', 'cached', 'plain'];
  const CASES: [object, string[]][] = [
    [{}, all],
    [{ isCached: false, isScored: false, isPartOfExperiment: false }, all],
    [{ isCached: true }, ['cached']],
    [{ isScored: true }, ['experiment', 'scored']],
    [{ isPartOfExperiment: true }, ['experiment']],
    [{ isScored: true, isPartOfExperiment: true }, ['experiment']],
    [{ isCached: true, isScored: true }, []],
  ];
  for (const [flags, expected] of CASES) {
    const found = await api.query({ filter: 'all', ...flags }, key);
    t.strictSame(
      found.map((record) => record.request_id),
      expected,
      JSON.stringify(flags),
    );
    const count = await api.call('/v1/request/count/query', { key, body: { filter: 'all', ...flags } });
    t.equal(count.body.data, expected.length);
  }
});

t.test('filters on common, rare and absent values are exact among thousands of requests', async (t) => {
  const { organizationId } = await createOrganization(api.database.sql, { name: 'large' });
  const { key } = await createKey(api.database.sql, { organizationId, scopes: ['read'] });
  await generateRequests(api.database.sql, { organizationId, count: 6_000, endMs: NOON });
  const filters = {
    'a common property': { properties: { PLAN: { equals: 'pro' } } },
    'a rare property': { properties: { conversation: { equals: 'c-17' } } },
    'an absent property': { properties: { plan: { equals: 'none' } } },
    'two properties': {
      left: { properties: { plan: { equals: 'pro' } } },
      operator: 'and',
      right: { properties: { plan: { equals: 'free' } } },
    },
    'a common range': { response: { latency: { gt: 500 } } },
    'a rare range': { response: { latency: { gt: 100_000 } } },
    'all but the common status': { response: { status: { 'not-equals': 200 } } },
    'all but a rare status': { response: { status: { 'not-equals': 418 } } },
    'a score': { scores: { helpfulness: { gte: 0.5 } } },
    'rated at all': { feedback: { rating: { 'not-equals': null } } },
    'rated since': { feedback: { created_at: { gte: NOON - 14 * 86_400_000 } } },
    'in a time': { request: { created_at: { lt: NOON - 20 * 86_400_000 } } },
  };
  for (const [what, filter] of Object.entries(filters)) {
    const { body } = await api.call('/v1/request/count/query', { key, body: { filter } });
    const total = body.data as number;
    for (const direction of ['asc', 'desc']) {
      for (const sort of ['created_at', 'latency']) {
        const [first, last, beyond] = await Promise.all(
          [0, Math.max(total - 5, 0), total].map((offset) =>
            api.query({ filter, sort: { [sort]: direction }, offset, limit: 10 }, key),
          ),
        );
        t.equal(first?.length, Math.min(total, 10), `${what}, ${sort} ${direction}: the first page is full`);
        t.equal(
          last?.length,
          Math.min(total, 5),
          `${what}, ${sort} ${direction}: the last page has the rest`,
        );
        t.equal(beyond?.length, 0);
      }
    }
  }
  const scored = await api.query({ filter: 'all', isScored: true, limit: 100 }, key);
  t.equal(scored.length, 100);
});
