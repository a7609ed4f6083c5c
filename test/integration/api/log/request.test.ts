/** Requests made elsewhere: what is said of them is what is found. */
import t from 'tap';
import { ulidTimeMs } from '#platform/process/ids.ts';
import { ANSWER, BEGUN, call, ENDED, LOG, startLogWorld } from './world.ts';

const { api, ingest, logged, record } = await startLogWorld(t);

t.test('a request made elsewhere is logged and found by a filter, with all of its fields', async (t) => {
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

t.test('fields of a logged request that are missing or null are null, and its id is new', async (t) => {
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

t.test('the user of the request body is the user unless user_id is given', async (t) => {
  const request = { body: { user: 'bea' }, created_at: BEGUN };
  t.equal((await record(call({ request }))).request_user_id, 'bea');
  t.equal((await record(call({ request, user_id: 'ada' }))).request_user_id, 'ada');
  t.equal(
    (await record(call({ request: { ...request, body: { user: { name: 'x' } } } }))).request_user_id,
    null,
  );
});

t.test('times of a logged request are RFC 3339 with any offset, or milliseconds', async (t) => {
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

t.test('a logged request may name any provider, and has a cost if Assay knows it', async (t) => {
  const found = await record(call({ provider: 'My own-proxy_2.0', model: 'tuned' }));
  t.match(found, { provider: 'MY OWN-PROXY_2.0', request_model: 'tuned', total_tokens: 1_500, cost: null });
  t.equal((await record(call({ provider: 'aZure' }))).provider, 'AZURE');
});

t.test('logged bodies are kept as they are written', async (t) => {
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

t.test('unusual text in labels is stored as far as Postgres can hold it, and found again', async (t) => {
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

t.test('of properties whose names are equal ignoring case, the last one is shown and found', async (t) => {
  const found = await record(call({ properties: { Plan: 'free', tier: '1', PLAN: 'pro' } }));
  t.same(found.properties, { PLAN: 'pro', tier: '1' });
  t.same(found.request_properties, found.properties);
  for (const [value, count] of Object.entries({ free: 0, pro: 1 })) {
    const filter = { left: { request: { id: { equals: found.request_id } } }, operator: 'and' };
    const right = { properties: { plan: { equals: value } } };
    t.equal((await api.query({ filter: { ...filter, right } })).length, count, value);
  }
});

t.test('an empty label is none, as an empty header of the gateway is', async (t) => {
  const labels = { user_id: '', session_id: '', session_path: '', prompt_id: '', experiment_id: '' };
  const request = { body: { messages: [], user: 'from the body' }, created_at: BEGUN };
  const id = await logged({ ...call(), request, ...labels });
  await ingest();
  const rows = await api.database.sql`
    select user_id, session_id, session_path, prompt_id, experiment_id from assay.requests where request_id = ${id}`;
  t.strictSame(
    { ...rows[0] },
    { user_id: 'from the body', session_id: null, session_path: null, prompt_id: null, experiment_id: null },
  );
});

t.test('a time to first token of a finer clock fits into times of whole milliseconds', async (t) => {
  const found = await record(call({ timing: { time_to_first_token: 1_250.9 } }));
  t.match(found, { delay_ms: 1_250, time_to_first_token: 1_250 });
});
