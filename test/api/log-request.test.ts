import assert from 'node:assert/strict';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '#core/clock.ts';
import { newRequestId, ulidTimeMs } from '#core/ids.ts';
import { claimRequestId } from '#core/keys/mod.ts';
import { createLogger } from '#core/log.ts';
import { openOutbox } from '#core/outbox/mod.ts';
import { connectPostgres } from '#core/postgres/mod.ts';
import { Drain } from '../../api/ingest/drain.ts';
import { createRequestLog } from '../../api/log/mod.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';

const LOG = '/v1/log/request';
const log = createLogger({ role: 'test', level: 'silent' });

let api: TestApi;
t.before(async () => {
  api = await startTestApi();
});
t.teardown(() => api.close());

/** Stores what is in the outbox now, as ingest would. */
async function ingest(from: TestApi = api): Promise<void> {
  const root = join(from.dataDir, 'outbox');
  const drain = new Drain({
    root,
    sql: from.database.sql,
    log,
    clock: systemClock,
    retentionDays: null,
    onStored: () => {},
  });
  drain.stop();
  await drain.run();
}

const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 },
};
const BEGUN = '2026-03-01T12:00:00.000Z';
const ENDED = '2026-03-01T12:00:01.250Z';

/** The least that can be logged, and more. */
const call = (more: object = {}, response: object = {}) => ({
  provider: 'openai',
  model: 'gpt-4o-mini',
  request: { body: { messages: [{ role: 'user', content: 'Hello' }] }, created_at: BEGUN },
  response: { body: ANSWER, status: 200, created_at: ENDED, ...response },
  ...more,
});

/** Logs it, expecting success; returns the request's id. */
async function logged(body: object, key?: string): Promise<string> {
  const answer = await api.call(LOG, { body, ...(key === undefined ? {} : { key }) });
  const id = /^\{"data":\{"request_id":"([^"]+)"\},"error":null\}$/.exec(answer.text)?.[1];
  if (answer.status !== 200 || id === undefined) throw new Error(`${answer.status} ${answer.text}`);
  return id;
}

/** Logs, stores and fetches. */
async function record(body: object): Promise<Record<string, unknown>> {
  const id = await logged(body);
  await ingest();
  return (await api.call(`/v1/request/${id}`)).body.data as Record<string, unknown>;
}

t.test('a request made elsewhere is found by its filter, with all that was said of it', async (t) => {
  const body = {
    ...call(),
    provider: 'OpenAI',
    request: {
      body: { model: 'gpt-4o-mini', messages: [], user: 'from the body' },
      path: '/v1/chat/completions',
      created_at: BEGUN,
    },
    timing: { time_to_first_token: 320.4 },
    user_id: 'ada',
    properties: { Plan: 'pro', Team: 'a' },
    session_id: 's-1',
    session_path: '/search/rank',
    session_name: 'Search',
    prompt_id: 'greeting',
    experiment_id: 'e-1',
    request_id: '5f0c1d1e-2f43-4f6e-8a53-0123456789ab',
  };
  const id = await logged(body);
  t.equal(id, body.request_id);
  await ingest();
  const found = await api.query({
    filter: { properties: { plan: { equals: 'pro' } } },
    isPartOfExperiment: true,
  });
  t.strictSame(found, [
    {
      request_id: id,
      request_created_at: BEGUN,
      request_body: body.request.body,
      request_path: '/v1/chat/completions',
      request_user_id: 'ada',
      request_properties: { Plan: 'pro', Team: 'a' },
      request_model: 'gpt-4o-mini',
      response_id: 'chatcmpl-1',
      response_created_at: ENDED,
      response_body: ANSWER,
      response_status: 200,
      response_model: 'gpt-4o-mini-2024-07-18',
      provider: 'OPENAI',
      model: 'gpt-4o-mini-2024-07-18',
      delay_ms: 1_250,
      time_to_first_token: 320,
      total_tokens: 1_500,
      prompt_tokens: 1_000,
      completion_tokens: 500,
      cost: 0.00045,
      prompt_id: 'greeting',
      prompt_version: null,
      feedback_rating: null,
      scores: null,
      properties: { Plan: 'pro', Team: 'a' },
    },
  ]);
  const rows = await api.database.sql`
    select source, session_id, session_path, session_name, experiment_id, api_key_id is not null as has_key,
      is_stream, truncated, error_code
    from assay.requests where request_id = ${id}`;
  t.strictSame(
    { ...rows[0] },
    {
      source: 'api',
      session_id: 's-1',
      session_path: '/search/rank',
      session_name: 'Search',
      experiment_id: 'e-1',
      has_key: true,
      is_stream: false,
      truncated: false,
      error_code: null,
    },
  );
});

t.test('what is left out, or null, is null; the id is a new one', async (t) => {
  const before = Date.now();
  const nothing = Object.fromEntries(
    ['user_id', 'properties', 'session_id', 'session_path', 'session_name', 'prompt_id', 'experiment_id'].map(
      (name) => [name, null],
    ),
  );
  for (const more of [{}, { ...nothing, request_id: null, timing: {} }]) {
    const found = await record(call(more));
    t.match(found, {
      request_id: /^[0-9A-Z]{26}$/,
      request_path: '',
      request_user_id: null,
      request_properties: null,
      properties: {},
      time_to_first_token: null,
      prompt_id: null,
    });
    t.ok(ulidTimeMs(found.request_id as string)! >= before, 'made now, so that it is waited for');
  }
});

t.test("the request's own user is the user, where no other is named", async (t) => {
  const request = { body: { user: 'bea' }, created_at: BEGUN };
  t.equal((await record(call({ request }))).request_user_id, 'bea');
  t.equal((await record(call({ request, user_id: 'ada' }))).request_user_id, 'ada');
  t.equal(
    (await record(call({ request: { ...request, body: { user: { name: 'x' } } } }))).request_user_id,
    null,
  );
});

t.test('moments are RFC 3339 with any offset, or milliseconds', async (t) => {
  const at = Date.parse(BEGUN);
  const MOMENTS: [begun: unknown, ended: unknown][] = [
    [BEGUN, ENDED],
    ['2026-03-01T14:00:00+02:00', '2026-03-01T13:00:01.250+01:00'],
    [at, at + 1_250],
    [at + 0.9, ENDED],
  ];
  for (const [begun, ended] of MOMENTS) {
    const found = await record(
      call({ request: { body: {}, created_at: begun } }, { created_at: ended, status: 0 }),
    );
    t.match(found, {
      request_created_at: BEGUN,
      response_created_at: ENDED,
      delay_ms: 1_250,
      response_status: 0,
    });
  }
  const extremes = [
    ['2020-01-01T00:00:00Z', '2020-01-08T00:00:00Z'],
    [new Date(Date.now() + 86_000_000).toISOString(), Date.now() + 86_100_000],
  ];
  for (const [begun, ended] of extremes) {
    const found = await record(call({ request: { body: {}, created_at: begun } }, { created_at: ended }));
    t.equal(Date.parse(found.request_created_at as string), Date.parse(begun as string));
  }
});

t.test('any provider can be named; one that Assay knows gives a cost', async (t) => {
  const found = await record(call({ provider: 'My own-proxy_2.0', model: 'tuned' }));
  t.match(found, { provider: 'MY OWN-PROXY_2.0', request_model: 'tuned', total_tokens: 1_500, cost: null });
  t.equal((await record(call({ provider: 'aZure' }))).provider, 'AZURE');
});

const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const delta = (content: string, finish_reason: string | null = null) => ({
  id: 'chatcmpl-2',
  object: 'chat.completion.chunk',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

async function streamColumns(id: unknown) {
  const rows = await api.database
    .sql`select is_stream, truncated from assay.requests where request_id = ${id as string}`;
  return { ...rows[0] };
}

t.test('an event stream of chat completion chunks is assembled', async (t) => {
  const { usage } = ANSWER;
  const text = `: hello\n\n${sse(delta('He'), delta('llo', 'stop'), { ...delta(''), choices: [], usage })}data: [DONE]\n\n`;
  const found = await record(call({ timing: { time_to_first_token: 20 } }, { body: text }));
  t.match(found, {
    response_body: {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    },
    response_id: 'chatcmpl-2',
    time_to_first_token: 20,
    total_tokens: 1_500,
    cost: 0.00045,
  });
  t.strictSame(await streamColumns(found.request_id), { is_stream: true, truncated: false });

  const cut = await record(call({}, { body: sse(delta('He'), delta('ll')) }));
  t.match(cut.response_body, { choices: [{ message: { content: 'Hell' } }] });
  t.strictSame(await streamColumns(cut.request_id), { is_stream: true, truncated: true });
});

const named = (...events: Record<string, unknown>[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [] as unknown[],
  stop_reason: null as string | null,
  usage: { input_tokens: 1_000, cache_read_input_tokens: 0, output_tokens: 1 },
};
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  model: 'gpt-4o-mini-2024-07-18',
  status: 'in_progress',
  output: [],
};
const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }];
const usage = { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 };
const TEXT = { object: 'text_completion', id: 'cmpl-1', model: 'gpt-3.5-turbo-instruct' };

/** Streams of the other dialects: what begins them, what ends them, and what they are put together. */
const DIALECTS: Record<string, { begun: string; ended: string; whole: object; cut: object }> = {
  completions: {
    begun: sse({ ...TEXT, choices: [{ index: 0, text: 'Hel' }] }),
    ended: sse(
      { ...TEXT, choices: [{ index: 0, text: 'lo', finish_reason: 'stop' }] },
      { ...TEXT, choices: [], usage: ANSWER.usage },
    ),
    whole: { ...TEXT, choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }], usage: ANSWER.usage },
    cut: { ...TEXT, choices: [{ index: 0, text: 'Hel', finish_reason: null }] },
  },
  responses: {
    begun: named(
      { type: 'response.created', response: RESPONSE },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hel' },
    ),
    ended: named({
      type: 'response.completed',
      response: { ...RESPONSE, status: 'completed', output, usage },
    }),
    whole: { ...RESPONSE, status: 'completed', output, usage },
    cut: { ...RESPONSE, output: [{ content: [{ text: 'Hel' }] }] },
  },
  messages: {
    begun: named(
      { type: 'message_start', message: MESSAGE },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
    ),
    ended: named(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 500 } },
      { type: 'message_stop' },
    ),
    whole: {
      ...MESSAGE,
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: { ...MESSAGE.usage, output_tokens: 500 },
    },
    cut: { ...MESSAGE, content: [{ type: 'text', text: 'Hel' }] },
  },
};

for (const [dialect, { begun, ended, whole, cut }] of Object.entries(DIALECTS)) {
  t.test(`an event stream of ${dialect} is assembled, and marked where it broke off`, async (t) => {
    const found = await record(call({}, { body: `${begun}${ended}` }));
    t.match(found, {
      response_body: whole,
      response_id: (whole as { id: string }).id,
      response_model: (whole as { model: string }).model,
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
    });
    t.strictSame(await streamColumns(found.request_id), { is_stream: true, truncated: false });
    const broken = await record(call({}, { body: begun }));
    t.match(broken.response_body, cut);
    t.strictSame(await streamColumns(broken.request_id), { is_stream: true, truncated: true });
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const failed = await record(call({}, { body: begun + named({ type: 'error', error }) }));
    t.match(failed.response_body, { ...cut, error });
    t.strictSame(await streamColumns(failed.request_id), { is_stream: true, truncated: true });
  });
}

t.test('an id of 64 bits in the input of a streamed tool call keeps its digits', async (t) => {
  const body = named(
    { type: 'message_start', message: MESSAGE },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"id":12345678' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '901234567890}' },
    },
    { type: 'message_stop' },
  );
  const id = await logged(call({}, { body }));
  await ingest();
  t.match((await api.call(`/v1/request/${id}`)).text, '"input":{"id":12345678901234567890}');
});

t.test('an answer that is other text is kept as it is; JSON is read', async (t) => {
  const TEXTS = [
    // Of Messages, but nothing can be made of a delta that does not say what it is.
    `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"Hi"}}\n\n`,
    `event: update\ndata: {"id":"x","text":"of a dialect that nobody knows"}\n\n`,
    'data: [DONE]\n\n',
    '<html>502 Bad Gateway</html>',
    '[1,2]',
    'NUL \u0000 and a face 😀',
  ];
  for (const text of TEXTS) {
    const found = await record(call({}, { body: text, status: 502 }));
    t.strictSame([found.response_body, found.response_status], [{ text }, 502]);
    t.strictSame(await streamColumns(found.request_id), { is_stream: false, truncated: false });
  }
  t.match(await record(call({}, { body: JSON.stringify(ANSWER) })), { response_body: ANSWER, cost: 0.00045 });
  t.strictSame((await record(call({}, { body: '' }))).response_body, {});
});

t.test('bodies are kept as they are written', async (t) => {
  const BODIES: Record<string, string> = {
    'a number beyond double precision': '{"a":1e400000,"seed":12345678901234567890}',
    'a name twice': '{"a":1,"a":2,"b":{"a":1,"a":{}}}',
    'NUL and lone surrogates': '{"a\\u0000":"x\\u0000y \\ud83d"}',
    'spaces and escapes': '{ "a" :\n[ 1 , "\\"}\\\\" ]\t}',
    'names of the envelope': '{"request":{"body":{"body":1}},"response":{"body":2},"body":[]}',
    ['__proto__']: '{"__proto__":{"polluted":true}}',
    '90,000 levels': `{"a":${'['.repeat(90_000)}${']'.repeat(90_000)}}`,
  };
  for (const [what, body] of Object.entries(BODIES)) {
    const raw =
      `{"response" : {"status":200, "created_at":"${ENDED}", "body": ${body} }, "model":"m","provider":"p",` +
      `"requ\\u0065st":{"created_at":"${BEGUN}","body":${body}}}`;
    const answer = await api.call(LOG, { raw });
    t.equal(answer.status, 200, what);
    await ingest();
    const { request_id: id } = answer.body.data as { request_id: string };
    const { text } = await api.call(`/v1/request/${id}`);
    t.ok(text.includes(`"request_body":${body},`) && text.includes(`"response_body":${body},`), what);
  }
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
});

t.test('odd text in labels is kept as Postgres can hold it, and found again', async (t) => {
  const properties = JSON.parse(
    '{"__proto__":"x","a\\nb":"1","NUL\\u0000":"\\ud83d","naïve \\"key\\"":"😀"}',
  );
  const longest = '界'.repeat(341);
  const found = await record(
    call({
      properties,
      user_id: 'a\u0000b',
      session_id: '\ud83d',
      model: `m\u0000`,
      prompt_id: longest,
      request: { body: {}, path: '/a\u0000', created_at: BEGUN },
    }),
  );
  t.match(found, {
    request_user_id: 'a\ufffdb',
    request_model: 'm\ufffd',
    request_path: '/a\ufffd',
    prompt_id: longest,
  });
  t.strictSame(
    new Map(Object.entries(found.properties as object)),
    new Map([
      ['__proto__', 'x'],
      ['a\nb', '1'],
      ['NUL\ufffd', '\ufffd'],
      ['naïve "key"', '😀'],
    ]),
  );
  for (const [name, value] of Object.entries(properties)) {
    const [match] = await api.query({ filter: { properties: { [name]: { equals: value } } } });
    t.equal(match?.request_id, found.request_id, JSON.stringify(name));
  }
  t.equal((await api.database.sql`select 1 from assay.dead_letters`).length, 0, 'nothing was refused later');
});

t.test('a request belongs to the organization of its key', async (t) => {
  const id = await logged(call({ user_id: 'theirs' }), api.other.key);
  await ingest();
  t.equal((await api.call(`/v1/request/${id}`)).status, 404);
  t.strictSame(await api.query({ filter: { request: { user_id: { equals: 'theirs' } } } }), []);
  const found = await api.query({ filter: { request: { user_id: { equals: 'theirs' } } } }, api.other.key);
  t.equal(found[0]?.request_id, id);
});

t.test('an id is used once in an organization', async (t) => {
  const { sql } = api.database;
  for (const id of [newRequestId(), '5F0C1D1E-2f43-4f6e-8a53-0123456789ac']) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, user) =>
        api.call(LOG, { body: call({ request_id: id, user_id: `${user}` }) }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 409);
    t.equal(refused.length, 9);
    t.strictSame(refused[0]?.body, { data: null, error: `The request_id ${id} was used before` });
    t.equal(await logged(call({ request_id: id }), api.other.key), id, 'another organization has its own');
    await ingest();
    const rows = await sql`select 1 from assay.requests where request_id = ${id}`;
    t.equal(rows.length, 2);
    t.equal((await api.call(LOG, { body: call({ request_id: id }) })).status, 409, 'also once it is stored');
  }
  const ofGateway = newRequestId();
  await claimRequestId(sql, api.own.organizationId, ofGateway);
  t.equal((await api.call(LOG, { body: call({ request_id: ofGateway }) })).status, 409);
});

t.test('a body that is refused does not use its id up', async (t) => {
  const id = newRequestId();
  const wrong = { ...call({ request_id: id }), model: '' };
  t.equal((await api.call(LOG, { body: wrong })).status, 400);
  t.equal(await logged(call({ request_id: id })), id);
});

t.test('a full outbox is told, counted, and uses no id up', async (t) => {
  const small = await startTestApi({ environment: { OUTBOX_MAX_BYTES: String(1024 * 1024) } });
  t.teardown(() => small.close());
  const id = newRequestId();
  const large = call({ request_id: id }, { body: { text: 'x'.repeat(1024 * 1024) } });
  const metric = async () =>
    /^assay_not_logged_total\{role="api"\} (\d+)$/m.exec((await small.call('/metrics')).text)?.[1];
  t.equal(await metric(), '0');
  for (const body of [large, { ...large, request_id: null }]) {
    const answer = await small.call(LOG, { body });
    t.equal(answer.status, 503);
    t.equal(answer.headers.get('retry-after'), '1');
    t.strictSame(answer.body, {
      data: null,
      error: 'The request was not logged: the outbox is full or cannot be written now; try again',
    });
  }
  t.equal(await metric(), '2');
  t.equal((await small.call(LOG, { body: call({ request_id: id }) })).status, 200, 'the id is still free');
  t.equal(await metric(), '2');
  await ingest(small);
  t.equal((await small.query({ filter: 'all' })).length, 1);
});

t.test('while Postgres is away requests are logged all the same', async (t) => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 1_000 });
  const root = join(api.dataDir, 'outbox');
  const outbox = await openOutbox({ root, id: newRequestId(), maxBytes: 1e9, sync: 'process', log });
  t.teardown(async () => {
    await outbox.close();
    await sql.end();
  });
  const logs = { admit: () => assert.fail('an organization without a rate has nothing to count') };
  const logRequest = createRequestLog({ outbox, logs, sql, retentionDays: null, clock: systemClock, log });
  const { organizationId } = api.own;
  const key = { keyId: organizationId, organizationId, logsPer5s: null };
  const id = newRequestId();
  const value = call({ request_id: id });
  const written = [JSON.stringify(value.request.body), JSON.stringify(value.response.body)];
  t.equal(await logRequest(key, { value, written }), id);
  t.equal(await logRequest(key, { value, written }), id, 'sent twice');
  await ingest();
  t.equal((await api.database.sql`select 1 from assay.requests where request_id = ${id}`).length, 1);
});

t.test('a body may be as large as on the gateway', async (t) => {
  const text = 'x'.repeat(5 * 1024 * 1024);
  t.strictSame((await record(call({}, { body: { text } }))).response_body, { text });
});

t.test('retention: what would be dropped at once is refused', async (t) => {
  const brief = await startTestApi({ environment: { RETENTION_DAYS: '30' } });
  t.teardown(() => brief.close());
  const daysAgo = (days: number) => {
    const at = Date.now() - days * 86_400_000;
    return brief.call(LOG, {
      body: call({ request: { body: {}, created_at: at } }, { created_at: at + 1 }),
    });
  };
  t.equal((await daysAgo(29.9)).status, 200);
  const refused = await daysAgo(30.1);
  t.equal(refused.status, 400);
  const keptFrom = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  t.match(refused.body.error, `milliseconds since the epoch, from ${keptFrom}T`);
});
