/** OpenAI's other endpoints, by its unmodified client: passed through, logged with usage and cost. */
import OpenAI from 'openai';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';

const gateway = await startTestGateway(t, { MISTRAL_API_KEY: 'sk-mistral' });
const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
t.beforeEach(() => {
  gateway.provider.script(null);
  gateway.provider.requests.length = 0;
});

const json = (body: unknown): Behaviour => ({ kind: 'json', body });
const idOf = (response: { headers: Headers }) => response.headers.get('service-request-id')!;

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_767_225_600,
  status: 'completed',
  model: 'gpt-4o-mini-2024-07-18',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello there', annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 110,
  },
};

type ResponseEvent = { type: string } & Record<string, unknown>;
const event = (data: ResponseEvent) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const started = { ...RESPONSE, status: 'in_progress', output: [], usage: null };
const [item] = RESPONSE.output;
const EVENTS = [
  event({ type: 'response.created', sequence_number: 0, response: started }),
  event({
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { ...item, status: 'in_progress', content: [] },
  }),
  event({
    type: 'response.content_part.added',
    sequence_number: 2,
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  }),
  event({
    type: 'response.output_text.delta',
    sequence_number: 3,
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: 'Hello ',
  }),
  event({
    type: 'response.output_text.delta',
    sequence_number: 4,
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: 'there',
  }),
  event({ type: 'response.completed', sequence_number: 5, response: RESPONSE }),
];
const sse = (frames: readonly string[], ending: 'end' | 'cut' | 'stall' = 'end'): Behaviour => ({
  kind: 'bytes',
  body: frames.join(''),
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  ending,
});

t.test('a response is passed through and logged with its cost', async (t) => {
  gateway.provider.script(() => json(RESPONSE));
  const { data, response } = await client.responses
    .create({ model: 'gpt-4o-mini', input: 'Hi', user: 'ada' })
    .withResponse();
  t.equal(data.output_text, 'Hello there');
  t.match(gateway.provider.requests[0], {
    path: '/v1/responses',
    headers: { authorization: 'Bearer sk-operator' },
  });
  t.match(await gateway.record(idOf(response)), {
    path: '/v1/responses',
    provider: 'OPENAI',
    user_id: 'ada',
    response_id: 'resp_1',
    response_model: RESPONSE.model,
    prompt_tokens: 100,
    completion_tokens: 10,
    total_tokens: 110,
    // 80 at $0.15, 20 cached at $0.075, 10 answered at $0.60, for a million each.
    cost_nano: String(80 * 150 + 20 * 75 + 10 * 600),
  });
});

t.test('the events of a response pass through, and its record is the response', async (t) => {
  gateway.provider.script(() => sse(EVENTS));
  const { data: stream, response } = await client.responses
    .create({ model: 'gpt-4o-mini', input: 'Hi', stream: true })
    .withResponse();
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  t.same(
    types,
    EVENTS.map((text) => /event: (\S+)/.exec(text)![1]),
  );
  t.notOk('stream_options' in JSON.parse(gateway.provider.requests[0]!.body.toString()));
  const record = await gateway.record(idOf(response));
  t.match(record, { is_stream: true, truncated: false, prompt_tokens: 100, response_id: 'resp_1' });
  t.same(JSON.parse(record.response_text), RESPONSE);
});

t.test(
  'the record of a response is stored when its last event arrives, although the connection stays open',
  async (t) => {
    gateway.provider.script(() => sse(EVENTS, 'stall'));
    const response = await post('/v1/responses', { model: 'gpt-4o-mini', input: 'Hi', stream: true });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('response.completed'); ) text += (await reader.read()).value;
    t.match(await gateway.record(response), { truncated: false, prompt_tokens: 100 });
    await reader.cancel();
  },
);

t.test('a response that breaks off ends in an event that clients raise as an error', async (t) => {
  gateway.provider.script(() => sse(EVENTS.slice(0, 4), 'cut'));
  const { data: stream, response } = await client.responses
    .create({ model: 'gpt-4o-mini', input: 'Hi', stream: true })
    .withResponse();
  let text = '';
  await t.rejects(
    async () => {
      for await (const told of stream) if (told.type === 'response.output_text.delta') text += told.delta;
    },
    { name: 'Error', message: /closed the connection/ },
  );
  t.equal(text, 'Hello ');
  const record = await gateway.record(idOf(response));
  t.match(record, { truncated: true, error_code: 'provider_unreachable' });
  t.match(record.response_text, /Hello /, 'what came is in the record');
});

t.test('a conversation is compacted, and the record has what that cost', async (t) => {
  const said = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
  const compacted = {
    id: 'resp_2',
    object: 'response.compaction',
    created_at: 1_767_225_600,
    output: [said, { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' }],
    usage: RESPONSE.usage,
  };
  gateway.provider.script(() => json(compacted));
  const { data, response } = await client.responses
    .compact({ model: 'gpt-4o-mini', input: [{ role: 'user', content: 'Hi' }] })
    .withResponse();
  t.match(data, compacted);
  t.equal(gateway.provider.requests[0]!.path, '/v1/responses/compact');
  t.match(await gateway.record(idOf(response)), {
    path: '/v1/responses/compact',
    response_id: 'resp_2',
    prompt_tokens: 100,
    completion_tokens: 10,
    cost_nano: String(80 * 150 + 20 * 75 + 10 * 600),
  });
  t.match(await (await post('/responses/compact', { model: 'gpt-4o-mini', input: 'Hi' })).json(), compacted);
});

t.test('the tokens of a response are counted without one, which is free', async (t) => {
  const count = { object: 'response.input_tokens' as const, input_tokens: 11 };
  gateway.provider.script(() => json(count));
  const ask = { model: 'gpt-4o-mini', input: 'Tell me a joke.' };
  const { data, response } = await client.responses.inputTokens.count(ask).withResponse();
  t.match(data, count);
  t.equal(gateway.provider.requests[0]!.path, '/v1/responses/input_tokens');
  t.match(await gateway.record(idOf(response)), {
    path: '/v1/responses/input_tokens',
    prompt_tokens: null,
    total_tokens: null,
    cost_nano: null,
  });
});

t.test('a provider that cannot compact or count is not asked', async (t) => {
  for (const path of ['/v1/responses/compact', '/v1/responses/input_tokens']) {
    const refused = await post(path, { model: 'mistral-small-latest', input: 'Hi' });
    t.equal(refused.status, 404);
    t.match(await refused.json(), {
      error: { code: 'endpoint_not_supported', message: new RegExp(`MISTRAL.*has no ${path}`) },
    });
  }
});

t.test('embeddings are relayed as numbers and in base64, and recorded with their cost', async (t) => {
  for (const path of ['/v1/embeddings', '/embeddings']) {
    const response = await post(path, { model: 'text-embedding-3-small', input: ['a', 'b'] });
    t.equal(response.status, 200);
    t.match(await gateway.record(response), {
      path: '/v1/embeddings',
      prompt_tokens: 3,
      completion_tokens: 0,
      total_tokens: 3,
      cost_nano: String(3 * 20),
    });
  }
  const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'a' });
  t.same(data[0]!.embedding, [0.25, -0.5, 0.125]);
});

t.test('an embedding of five megabytes arrives whole', async (t) => {
  const embedding = Array.from({ length: 300_000 }, (_, index) => index / 7);
  gateway.provider.script(() => json({ object: 'list', data: [{ index: 0, embedding }], model: 'x' }));
  const response = await post('/v1/embeddings', { model: 'text-embedding-3-small', input: 'a' });
  const answer = (await response.json()) as { data: { embedding: number[] }[] };
  t.same(answer.data[0]!.embedding, embedding);
});

t.test('a moderation needs no model and has no cost', async (t) => {
  const answer = { id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: false }] };
  gateway.provider.script(() => json(answer));
  const { data, response } = await client.moderations.create({ input: 'Hi' }).withResponse();
  t.match(data, answer);
  t.same(JSON.parse(gateway.provider.requests[0]!.body.toString()), { input: 'Hi' });
  t.match(await gateway.record(idOf(response)), {
    path: '/v1/moderations',
    request_model: 'omni-moderation-latest',
    cost_nano: null,
  });
  const limited = await fetch(`${gateway.url}/v1/moderations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'Service-RateLimit-Policy': '100;w=60;u=cents' },
    body: '{"input":"Hi"}',
  });
  t.equal(limited.status, 200, 'and is let in under a limit in money');
});

t.test('/v1/completions is relayed and recorded, plain and streamed', async (t) => {
  const base = {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'gpt-3.5-turbo-instruct:20230824-v2',
  };
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const choice = { index: 0, text: ' there', logprobs: null, finish_reason: 'stop' };
  gateway.provider.script((request) => {
    const asked = JSON.parse(request.body.toString()) as { stream?: boolean };
    if (asked.stream !== true) return json({ ...base, choices: [choice], usage });
    const frames = [{ choices: [choice] }, { choices: [], usage }].map(
      (part) => `data: ${JSON.stringify({ ...base, ...part })}\n\n`,
    );
    return sse([...frames, 'data: [DONE]\n\n']);
  });
  const ask = { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello' };
  const plain = await client.completions.create(ask).withResponse();
  t.equal(plain.data.choices[0]!.text, ' there');
  const expected = { path: '/v1/completions', prompt_tokens: 5, completion_tokens: 2, truncated: false };
  t.match(await gateway.record(idOf(plain.response)), expected);
  const streamed = await client.completions.create({ ...ask, stream: true }).withResponse();
  const chunks = [];
  for await (const chunk of streamed.data) chunks.push(chunk);
  t.equal(chunks.length, 1, 'usage was asked for, and hidden again');
  const record = await gateway.record(idOf(streamed.response));
  t.match(record, { ...expected, is_stream: true });
  t.match(JSON.parse(record.response_text), { object: 'text_completion', choices: [choice] });
});

t.test(
  'an endpoint that a provider does not have is refused by its name before any provider request',
  async (t) => {
    const response = await post('/v1/responses', { model: 'mistral-small-latest', input: 'Hi' });
    t.equal(response.status, 404);
    t.match(await response.json(), {
      error: { code: 'endpoint_not_supported', message: /MISTRAL .*no \/v1\/responses here/ },
    });
  },
);

t.test('an invalid body on any endpoint is refused with a sentence that names the rule', async (t) => {
  const cases: [string, unknown, number, RegExp][] = [
    ['/v1/embeddings', { input: 'a' }, 400, /model is required/],
    ['/v1/embeddings', '[]', 400, /must be a JSON object/],
    ['/v1/responses', { model: 'gpt-4o', stream: 'yes' }, 400, /stream must be true or false/],
    ['/v1/moderations', { model: 7 }, 400, /model must be a string/],
    ['/v1/completions', '{', 400, /not valid JSON/],
    ['/v1/embeddings', { model: 'no-such', input: 'a' }, 404, /no-such/],
  ];
  for (const [path, body, status, message] of cases) {
    const response = await post(path, body);
    t.equal(response.status, status, path);
    t.match(await response.json(), { error: { message } });
  }
  t.equal(gateway.provider.requests.length, 0);
});
