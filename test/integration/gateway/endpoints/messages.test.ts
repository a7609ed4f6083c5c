/** `POST /v1/messages` with Anthropic's own client: passed through to Anthropic, translated for every other provider. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { scriptedProvider } from '../../../support/world.ts';

const MODEL = 'claude-sonnet-4-5';
const USAGE = {
  input_tokens: 10,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 6,
  output_tokens: 7,
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{ type: 'text', text: 'Sunny.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
};
const ASK = {
  model: MODEL,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'The weather in Paris?' }],
};
const STREAM = readFileSync(
  new URL('../../../support/fixtures/gateway/streams/tool-use.anthropic.sse', import.meta.url),
);

const json = (body: unknown, status = 200, headers = {}): Behaviour => ({
  kind: 'json',
  body,
  status,
  headers,
});
const sse = (body: Uint8Array | string, ending: 'end' | 'cut' = 'end'): Behaviour => ({
  kind: 'bytes',
  body,
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  ending,
});

const anthropic = await scriptedProvider(t);
const gateway = await startTestGateway(t, {
  ANTHROPIC_API_KEY: 'sk-ant-operator',
  ANTHROPIC_BASE_URL: anthropic.url.replace(/\/v1$/, ''),
});
const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
t.beforeEach(() => {
  for (const provider of [anthropic, gateway.provider]) {
    provider.script(null);
    provider.requests.length = 0;
  }
});

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Returns the error that a call fails with. */
const failureOf = (call: PromiseLike<unknown>): PromiseLike<unknown> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  );

const dataOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Record<string, unknown>);

t.test(
  "Anthropic's client gets a request id for every call: the provider's, else the gateway's",
  async (t) => {
    const OF_OPENAI = { ...ASK, model: 'gpt-4o-mini' };
    const own = async (ask: typeof ASK) => {
      const { response, request_id } = await client.messages.create(ask).withResponse();
      t.equal(request_id, response.headers.get('service-request-id'));
    };
    anthropic.script(() => json(MESSAGE));
    await own(ASK);
    await own(OF_OPENAI);
    const stream = await client.messages.create({ ...OF_OPENAI, stream: true }).withResponse();
    t.equal(stream.request_id, stream.response.headers.get('service-request-id'));
    for await (const event of stream.data) t.type(event.type, 'string');

    anthropic.script(() => json(MESSAGE, 200, { 'request-id': 'req_9' }));
    const { request_id: given } = await client.messages.create(ASK).withResponse();
    t.equal(given, 'req_9');

    // Refused, not reached, broken off, and answered with something that no client could read.
    const failing: [Partial<typeof ASK>, Behaviour][] = [
      [{ model: 'no-such-model' }, json(MESSAGE)],
      [{}, { kind: 'bytes', body: '{', ending: 'cut', headers: { 'request-id': 'req_9' } }],
      [{}, { kind: 'html', status: 200 }],
    ];
    for (const [change, behaviour] of failing) {
      anthropic.script(() => behaviour);
      const error = (await failureOf(client.messages.create({ ...ASK, ...change }))) as InstanceType<
        typeof Anthropic.APIError
      >;
      t.type(error.requestID, 'string');
      t.equal(error.requestID, error.headers?.get('service-request-id'));
    }
    const chat = await gateway.chat({ model: 'no-such-model', messages: [] });
    t.equal(chat.headers.get('request-id'), null, "it is a name of Anthropic's");
  },
);

t.test('a message of Anthropic passes through, byte for byte, and is logged with its cost', async (t) => {
  const answer = `{ "id":"msg_1", "big":12345678901234567890, ${JSON.stringify(MESSAGE).slice(1)}`;
  anthropic.script(() => ({
    kind: 'bytes',
    body: answer,
    headers: { 'content-type': 'application/json', 'request-id': 'req_9' },
  }));
  const asked = `{"model":"${MODEL}" , "max_tokens":100,"odd":1.0,"metadata":{"user_id":"ada"},"messages":[]}`;
  const response = await post(asked, {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'context-1m',
  });
  t.equal(response.status, 200);
  t.equal(response.headers.get('request-id'), 'req_9');
  t.equal(await response.text(), answer);
  const [heard] = anthropic.requests;
  t.equal(heard!.body.toString(), asked);
  t.match(heard, {
    path: '/v1/messages',
    headers: {
      'x-api-key': 'sk-ant-operator',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-1m',
      authorization: undefined,
    },
  });
  t.match(await gateway.record(response), {
    provider: 'ANTHROPIC',
    path: '/v1/messages',
    user_id: 'ada',
    response_model: MESSAGE.model,
    prompt_tokens: 20,
    completion_tokens: 7,
    // 10 at $3, 4 read at $0.30, 6 written at $3.75, 7 answered at $15, for a million each.
    cost_nano: String(10 * 3_000 + 4 * 300 + 6 * 3_750 + 7 * 15_000),
  });
});

t.test('a stream passes through, and its record is the message', async (t) => {
  anthropic.script(() => sse(STREAM));
  const response = await post({ ...ASK, stream: true });
  t.equal(await response.text(), STREAM.toString());
  const record = await gateway.record(response);
  t.match(record, { status: 200, is_stream: true, truncated: false, response_model: /^claude/ });
  t.ok(record.prompt_tokens! > 0 && record.completion_tokens! > 0);
  const message = JSON.parse(record.response_text) as { type: string; stop_reason: string };
  t.match(message, { type: 'message', stop_reason: 'tool_use' });
});

t.test('the record of a Messages stream is stored before its last event arrives', async (t) => {
  anthropic.script(() => ({ ...sse(STREAM), ending: 'stall' }) as Behaviour);
  const response = await post({ ...ASK, stream: true });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; !text.includes('message_stop'); ) text += (await reader.read()).value;
  t.match(await gateway.record(response), { truncated: false });
  await reader.cancel();
});

t.test(
  "/v1/messages accepts the Assay key from either client, and passes the caller's own provider key on",
  async (t) => {
    anthropic.script(() => json(MESSAGE));
    const { key, url } = gateway;
    const cases: [Record<string, string>, Record<string, string | undefined>][] = [
      [{ 'x-api-key': key }, { 'x-api-key': 'sk-ant-operator', authorization: undefined }],
      [{ authorization: `Bearer ${key}` }, { 'x-api-key': 'sk-ant-operator', authorization: undefined }],
      [
        { 'service-auth': `Bearer ${key}`, 'x-api-key': 'sk-ant-mine' },
        { 'x-api-key': 'sk-ant-mine', authorization: undefined },
      ],
      [
        { 'service-auth': `Bearer ${key}`, authorization: 'Bearer sk-ant-oat-subscription' },
        { 'x-api-key': undefined, authorization: 'Bearer sk-ant-oat-subscription' },
      ],
    ];
    for (const [headers, expected] of cases) {
      const response = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(ASK),
      });
      t.equal(response.status, 200);
      t.match(anthropic.requests.at(-1)!.headers, expected, Object.keys(headers).join(' and '));
    }
  },
);

t.test(
  "the gateway's own errors on /v1/messages raise the error classes of Anthropic's client",
  async (t) => {
    anthropic.script(() => json(MESSAGE));
    const wrong = new Anthropic({ apiKey: 'nobodys', baseURL: gateway.url, maxRetries: 0 });
    t.match(await failureOf(wrong.messages.create(ASK)), {
      status: 401,
      error: {
        type: 'error',
        error: { type: 'authentication_error', message: /^Incorrect API key provided/ },
      },
    });
    t.match(await failureOf(client.messages.create({ ...ASK, model: 'no-such-model' })), {
      constructor: Anthropic.NotFoundError,
      error: { error: { type: 'not_found_error', message: /no-such-model/ } },
    });
    const limited = client.messages.create(ASK, { headers: { 'Service-RateLimit-Policy': '1;w=60' } });
    await limited;
    t.match(
      await failureOf(client.messages.create(ASK, { headers: { 'Service-RateLimit-Policy': '1;w=60' } })),
      {
        constructor: Anthropic.RateLimitError,
        error: { error: { type: 'rate_limit_error' } },
      },
    );
    const notJson = await post('{"model":');
    t.equal(notJson.status, 400);
    t.match(await notJson.json(), {
      type: 'error',
      error: { type: 'invalid_request_error', message: /not valid JSON/ },
    });
    const get = await fetch(`${gateway.url}/v1/messages`);
    t.equal(get.status, 405);
    t.match(await get.json(), { type: 'error' });
  },
);

t.test(
  'a Messages stream that its provider breaks off ends in an error event, without message_stop',
  async (t) => {
    const half = STREAM.subarray(0, STREAM.indexOf('event: content_block_stop'));
    anthropic.script(() => sse(half, 'cut'));
    const response = await post({ ...ASK, stream: true });
    const text = await response.text();
    t.match(text, /event: error\ndata: \{"type":"error","error":\{"type":"api_error"/);
    t.notMatch(text, /message_stop/);
    t.match(await gateway.record(response), { truncated: true, error_code: 'provider_unreachable' });
    await t.rejects(client.messages.stream(ASK).finalMessage());
  },
);

t.test("an error in the middle of Anthropic's stream is the record's status", async (t) => {
  const half = STREAM.subarray(0, STREAM.indexOf('event: content_block_stop')).toString();
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  anthropic.script(() => sse(`${half}event: error\ndata: ${JSON.stringify(overloaded)}\n\n`));
  const response = await post({ ...ASK, stream: true });
  t.match(dataOf(await response.text()).at(-1), overloaded);
  const record = await gateway.record(response);
  t.match(record, { status: 529, truncated: true });
  t.ok(record.prompt_tokens! > 0, 'what was counted is billed');
});

t.test(
  'the calls of coding agents are in the sessions that they name, and their user is one in all of them',
  async (t) => {
    anthropic.script(() => json(MESSAGE));
    const [account, device, session] = ['7b5d1a52-ffda-4dad-bbec-2f9e4c52ac15', 'f'.repeat(64), randomUUID()];
    const told = (account_uuid: string) =>
      JSON.stringify({ device_id: device, account_uuid, session_id: session });
    const recorded = async (user: string | undefined, headers: Record<string, string>) => {
      const response = await post(JSON.stringify({ ...ASK, metadata: { user_id: user } }), headers);
      const { user_id, session_id } = await gateway.record(response);
      return [user_id, session_id];
    };
    const claudeCode = { 'x-claude-code-session-id': session };
    t.same(await recorded(told(account), claudeCode), [account, session]);
    t.same(await recorded(told(''), claudeCode), [device, session]);
    t.same(await recorded(`user_${device}_account_${account}_session_${session}`, claudeCode), [
      account,
      session,
    ]);
    t.same(await recorded(`user_${device}_account__session_${session}`, {}), [device, null]);
    t.same(
      JSON.parse(anthropic.requests[0]!.body.toString()).metadata,
      { user_id: told(account) },
      'as it was',
    );
    const userAgent = 'codex_exec/0.171.0 (Debian 12.0.0; x86_64)';
    for (const codex of ['session-id', 'Session_id']) {
      t.same(await recorded('ada', { 'user-agent': userAgent, [codex]: session }), ['ada', session]);
      t.same(
        await recorded('ada', { [codex]: session }),
        ['ada', null],
        'it may be a secret of another client',
      );
    }
    t.same(
      await recorded(told(account), { ...claudeCode, 'service-session-id': 's', 'service-user-id': 'u' }),
      ['u', 's'],
    );
    for (const other of ['{"device_id":"x"}', '{', 'user_ada_session_1', '{"session_id":"x"}'])
      t.same(await recorded(other, { 'x-claude-code-session-id': 'x'.repeat(1_025) }), [other, null]);
  },
);

t.test(
  'count_tokens is passed to Anthropic and costs nothing, and is refused for other providers',
  async (t) => {
    anthropic.script(() => json({ input_tokens: 14 }));
    t.same(await client.messages.countTokens({ model: MODEL, messages: ASK.messages }), {
      input_tokens: 14,
    });
    t.equal(anthropic.requests[0]!.path, '/v1/messages/count_tokens');
    t.match(await failureOf(client.messages.countTokens({ model: 'groq/llama', messages: ASK.messages })), {
      status: 404,
      error: { error: { type: 'not_found_error', message: /GROQ.*has no \/v1\/messages\/count_tokens/ } },
    });
  },
);

t.test("Anthropic's client can call a model of OpenAI's, plain and streamed", async (t) => {
  const ask = { ...ASK, model: 'gpt-4o-mini' };
  const { data, response } = await client.messages.create(ask).withResponse();
  t.match(data, {
    type: 'message',
    role: 'assistant',
    stop_reason: 'end_turn',
    content: [{ type: 'text', text: 'You said: The weather in Paris?' }],
  });
  const [heard] = gateway.provider.requests;
  t.equal(heard!.path, '/v1/chat/completions');
  t.match(JSON.parse(heard!.body.toString()), { max_completion_tokens: 100, model: 'gpt-4o-mini' });
  t.notMatch(heard!.headers, { 'anthropic-version': /./ });
  const record = await gateway.record(response.headers.get('service-request-id')!);
  t.match(record, { provider: 'OPENAI', path: '/v1/messages', prompt_tokens: data.usage.input_tokens });
  t.match(JSON.parse(record.response_text), { type: 'message', content: data.content });

  const stream = client.messages.stream(ask);
  const streamed = await stream.finalMessage();
  t.match(streamed, { content: data.content, usage: data.usage, stop_reason: 'end_turn' });
  const streamedRecord = await gateway.record(stream.response!.headers.get('service-request-id')!);
  t.match(streamedRecord, {
    is_stream: true,
    truncated: false,
    completion_tokens: data.usage.output_tokens,
  });
});

t.test(
  "an OpenAI error on /v1/messages has Anthropic's format, with its status and retry-after",
  async (t) => {
    gateway.provider.script(() => ({ kind: 'error', status: 429, headers: { 'retry-after': '7' } }));
    t.match(await failureOf(client.messages.create({ ...ASK, model: 'gpt-4o-mini' })), {
      constructor: Anthropic.RateLimitError,
      status: 429,
      error: { error: { type: 'rate_limit_error' } },
    });
  },
);

t.test(
  'a Messages field without an OpenAI equivalent is refused by its name before any provider request',
  async (t) => {
    t.match(await failureOf(client.messages.create({ ...ASK, model: 'gpt-4o-mini', top_k: 3 } as never)), {
      status: 400,
      error: { error: { type: 'invalid_request_error', message: /top_k/ } },
    });
    t.equal(gateway.provider.requests.length, 0);
  },
);

t.test('a repeated Messages stream is served from the cache as the same stream', async (t) => {
  anthropic.script(() => sse(STREAM));
  const ask = () => post({ ...ASK, stream: true }, { 'service-cache-enabled': 'true' });
  const first = await ask();
  const text = await first.text();
  await gateway.record(first);
  const second = await ask();
  t.equal(second.headers.get('service-cache'), 'HIT');
  t.equal(await second.text(), text);
  t.equal(anthropic.requests.length, 1);
});

t.test('the cache tells calls with other features or another version of the API apart', async (t) => {
  let answered = 0;
  anthropic.script(() => {
    answered += 1;
    return json({ ...MESSAGE, id: `msg_${answered}` });
  });
  const messages = [{ role: 'user' as const, content: 'What the cache has not heard' }];
  const headers = { 'Service-Cache-Enabled': 'true' };
  const idFor = async (betas: string[]) =>
    (await client.beta.messages.create({ ...ASK, messages, betas }, { headers })).id;
  t.equal(await idFor(['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14']), 'msg_1');
  t.equal(await idFor([]), 'msg_2');
  t.equal(await idFor(['interleaved-thinking-2025-05-14', 'context-1m-2025-08-07']), 'msg_1');
  const asIs = { ...ASK, messages };
  const idBy = async (more: Record<string, string>) =>
    ((await (await post(asIs, { ...headers, ...more })).json()) as { id: string }).id;
  t.equal(await idBy({}), 'msg_3', 'without the version that the client names');
  t.equal(await idBy({ 'anthropic-version': '2023-06-01' }), 'msg_3', 'which the gateway sends by itself');
  t.equal(await idBy({ 'anthropic-version': '2023-01-01' }), 'msg_4');
});
