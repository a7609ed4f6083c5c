/** Anthropic's client calls a model of OpenAI's that reasons, over several turns with a tool: by Responses. */
import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { startTestGateway } from '../../../support/gateway.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { scriptedProvider } from '../../../support/world.ts';

const MODEL = 'gpt-5.6';
const anthropic = await scriptedProvider(t);
const gateway = await startTestGateway(t, {
  ANTHROPIC_API_KEY: 'sk-ant-operator',
  ANTHROPIC_BASE_URL: anthropic.url.replace(/\/v1$/, ''),
});
const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
t.beforeEach(() => {
  gateway.provider.script(null);
  gateway.provider.requests.length = 0;
});

const REASONING = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAAB-x_y==' };
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: '{"city":"Köln"}',
};
const SAID = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Sunny.', annotations: [] }],
};
const responseOf = (...output: JsonObject[]): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'gpt-5.6-2026-07-01',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage: {
    input_tokens: 1_000,
    input_tokens_details: { cached_tokens: 400 },
    output_tokens: 200,
    output_tokens_details: { reasoning_tokens: 150 },
    total_tokens: 1_200,
  },
});
const json = (body: unknown, status = 200): Behaviour => ({ kind: 'json', body, status });
const sse = (...events: JsonObject[]): Behaviour => ({
  kind: 'bytes',
  body: Buffer.from(events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('')),
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
});
const heard = () =>
  gateway.provider.requests.map(({ path, body }) => ({
    path,
    body: JSON.parse(body.toString()) as JsonObject,
  }));

const ASK = {
  model: MODEL,
  max_tokens: 2_000,
  thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
  tools: [{ name: 'weather', input_schema: { type: 'object' as const, properties: {} } }],
};
const QUESTION = { role: 'user' as const, content: 'The weather in Köln?' };

t.test('a model goes on from its reasoning when the result of its tool comes', async (t) => {
  gateway.provider.script(() => json(responseOf(REASONING, CALL)));
  const first = await client.messages.create({ ...ASK, messages: [QUESTION] });
  t.match(first.content, [
    { type: 'redacted_thinking' },
    { type: 'tool_use', name: 'weather', input: { city: 'Köln' } },
  ]);
  t.equal(first.stop_reason, 'tool_use');
  gateway.provider.script(() => json(responseOf(SAID)));
  const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: '21 °C' };
  const second = await client.messages.create({
    ...ASK,
    messages: [QUESTION, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
  });
  t.match(second.content, [{ type: 'text', text: 'Sunny.' }]);
  t.same(
    heard().map(({ path }) => path),
    ['/v1/responses', '/v1/responses'],
  );
  const { id: _, ...sent } = CALL;
  t.same((heard()[1]!.body.input as unknown[]).slice(1), [
    REASONING,
    sent,
    { type: 'function_call_output', call_id: 'call_1', output: '21 °C' },
  ]);
});

t.test('the record is that of a Messages call, with its tokens and cost', async (t) => {
  gateway.provider.script(() => json({ ...responseOf(SAID), model: 'gpt-5-2025-08-07' }));
  const ask = { ...ASK, model: 'gpt-5', messages: [QUESTION] };
  const { data, response } = await client.messages.create(ask).withResponse();
  const record = await gateway.record(response.headers.get('service-request-id')!);
  t.match(record, {
    provider: 'OPENAI',
    request_model: 'gpt-5',
    response_model: 'gpt-5-2025-08-07',
    status: 200,
    prompt_tokens: 1_000,
    completion_tokens: 200,
  });
  // 600 tokens at $1.25 a million, 400 of the cache at $0.125, 200 at $10.
  t.equal(Number(record.cost_nano), 600 * 1_250 + 400 * 125 + 200 * 10_000);
  t.same(JSON.parse(record.response_text), data, 'the log has what the client read');
  t.same(JSON.parse(record.request_text), ask, 'and what it asked');
});

t.test('a tier of service with prices of its own is counted with them, whole and streamed', async (t) => {
  const whole = { ...responseOf(SAID), model: 'gpt-5-2025-08-07', service_tier: 'flex' };
  const half = (600 * 1_250 + 400 * 125 + 200 * 10_000) / 2;
  const costOf = async (response: Response) => {
    const record = await gateway.record(response.headers.get('service-request-id')!);
    return Number(record.cost_nano);
  };
  const ask = { ...ASK, model: 'gpt-5', messages: [QUESTION] };
  gateway.provider.script(() => json(whole));
  t.equal(await costOf((await client.messages.create(ask).withResponse()).response), half);
  gateway.provider.script(() => sse({ type: 'response.completed', response: whole }));
  const streamed = await client.messages.create({ ...ask, stream: true }).withResponse();
  for await (const _ of streamed.data);
  t.equal(await costOf(streamed.response), half);
  const usage = {
    prompt_tokens: 1_000,
    prompt_tokens_details: { cached_tokens: 400 },
    completion_tokens: 200,
    total_tokens: 1_200,
  };
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Sunny.' }, finish_reason: 'stop' }];
  gateway.provider.script(() => json({ id: 'c', model: 'gpt-4.1', choices, usage, service_tier: 'flex' }));
  const chat = await client.messages.create({ ...ask, model: 'gpt-4.1' }).withResponse();
  t.equal(
    await costOf(chat.response),
    (600 * 2_000 + 400 * 500 + 200 * 8_000) / 2,
    'by chat completions, too',
  );
});

t.test(
  'a stream brings the reasoning, the text and the calls as Anthropic’s client reads them',
  async (t) => {
    const whole = responseOf(REASONING, SAID, CALL);
    gateway.provider.script(() =>
      sse(
        { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
        { type: 'response.output_item.done', output_index: 0, item: REASONING },
        { type: 'response.output_text.delta', output_index: 1, delta: 'Sun' },
        { type: 'response.output_text.delta', output_index: 1, delta: 'ny.' },
        { type: 'response.output_item.added', output_index: 2, item: { ...CALL, arguments: '' } },
        { type: 'response.function_call_arguments.delta', output_index: 2, delta: CALL.arguments },
        { type: 'response.completed', response: whole },
      ),
    );
    const message = await client.messages.stream({ ...ASK, messages: [QUESTION] }).finalMessage();
    t.match(message, {
      content: [
        { type: 'redacted_thinking' },
        { type: 'text', text: 'Sunny.' },
        { type: 'tool_use', id: 'call_1', input: { city: 'Köln' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 600, cache_read_input_tokens: 400, output_tokens: 200 },
    });
    t.equal(heard()[0]!.body.stream, true);
  },
);

t.test('errors, of the provider and of the translation, are in Anthropic’s form', async (t) => {
  const failure = (error: unknown) => (error as InstanceType<typeof Anthropic.APIError>).error;
  const refused = await client.messages
    .create({ ...ASK, messages: [QUESTION], stop_sequences: ['x'] })
    .catch(failure);
  t.match(refused, { type: 'error', error: { type: 'invalid_request_error', message: /^stop_sequences / } });
  t.same(heard(), [], 'nothing was asked for');
  gateway.provider.script(() =>
    json({ error: { message: 'No such model', type: 'invalid_request_error' } }, 404),
  );
  const missing = await client.messages.create({ ...ASK, messages: [QUESTION] }).catch(failure);
  t.match(missing, { type: 'error', error: { type: 'not_found_error', message: 'No such model' } });
  gateway.provider.script(() =>
    json({ ...responseOf(), status: 'failed', error: { code: 'server_error', message: 'Sorry' } }),
  );
  const failed = await client.messages.create({ ...ASK, messages: [QUESTION] }).catch(failure);
  t.match(failed, { type: 'error', error: { message: /Sorry/ } });
});

t.test('models that do not reason are called by chat completions', async (t) => {
  for (const model of ['gpt-4o', 'gpt-5-chat-latest', 'gpt-4.1-mini']) {
    await client.messages.create({ model, max_tokens: 9, messages: [QUESTION] });
  }
  t.same(
    heard().map(({ path }) => path),
    Array(3).fill('/v1/chat/completions'),
  );
});

t.test('models that reason are called by Responses, as OpenAI names them', async (t) => {
  gateway.provider.script(() => json(responseOf(SAID)));
  const models = ['gpt-5', 'gpt-5.4-mini', 'gpt-5.3-codex', 'o3', 'o4-mini', 'openai/gpt-6'];
  for (const model of models) await client.messages.create({ model, max_tokens: 9, messages: [QUESTION] });
  t.same(
    heard().map(({ path }) => path),
    Array(models.length).fill('/v1/responses'),
  );
});

const ANTHROPIC_ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 1, output_tokens: 1 },
};

t.test(
  'a conversation goes on with a model of Anthropic’s, without the reasoning that it has not signed',
  async (t) => {
    anthropic.script(() => json(ANTHROPIC_ANSWER));
    const signed = { type: 'thinking' as const, thinking: 'Hm', signature: 'ErUBCkYIARgCIkAx' };
    const call = { type: 'tool_use' as const, id: 'call_1', name: 'weather', input: { n: 1 } };
    const foreign = { type: 'redacted_thinking' as const, data: '~assay.reasoning.OPENAI.rs_1.gAAA' };
    const summary = {
      type: 'thinking' as const,
      thinking: 'Hm',
      signature: '~assay.reasoning.AZURE.rs_1.gAAA',
    };
    const quoted = { role: 'user' as const, content: 'What is ~assay.reasoning.OPENAI?' };
    const messages = [
      quoted,
      { role: 'assistant' as const, content: [foreign, summary, signed, call] },
      { role: 'user' as const, content: 'And?' },
      { role: 'assistant' as const, content: [foreign] },
    ];
    const ask = { ...ASK, model: 'claude-sonnet-4-5', messages };
    await client.messages.create(ask);
    await client.messages.countTokens(ask);
    const expected = [
      quoted,
      { role: 'assistant', content: [signed, call] },
      { role: 'user', content: 'And?' },
    ];
    for (const { body } of anthropic.requests)
      t.same(JSON.parse(body.toString()), { ...ask, messages: expected });
    t.equal(anthropic.requests.length, 2);
  },
);

t.test(
  'a conversation with a model whose thoughts are not signed goes on with one of Anthropic’s',
  async (t) => {
    anthropic.script(() => json(ANTHROPIC_ANSWER));
    const chunk = (delta: JsonObject, more: JsonObject = {}) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, ...more }] })}\n\n`;
    const said = { reasoning_content: 'Hm.', content: 'Sunny.' };
    gateway.provider.script(({ body }) =>
      JSON.parse(body.toString()).stream === true
        ? {
            kind: 'bytes',
            body: Buffer.from(`${chunk(said)}${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`),
            headers: { 'content-type': 'text/event-stream' },
          }
        : json({
            id: 'c',
            model: 'm',
            choices: [{ message: { role: 'assistant', ...said }, finish_reason: 'stop' }],
          }),
    );
    const ask = { model: 'gpt-4o', max_tokens: 100, messages: [QUESTION] };
    const whole = await client.messages.create(ask);
    const streamed = await client.messages.stream(ask).finalMessage();
    for (const { content } of [whole, streamed]) {
      t.match(content, [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Sunny.' },
      ]);
      anthropic.requests.length = 0;
      const messages = [
        QUESTION,
        { role: 'assistant' as const, content },
        { role: 'user' as const, content: 'And?' },
      ];
      await client.messages.create({ ...ask, model: 'claude-sonnet-4-5', messages });
      const [, answer] = JSON.parse(anthropic.requests[0]!.body.toString()).messages as JsonObject[];
      t.match(answer!.content, [{ type: 'text', text: 'Sunny.' }]);
      t.equal((answer!.content as unknown[]).length, 1);
    }
  },
);
