/** A client of OpenAI's calls a model of Anthropic's: what the provider hears, what the client reads, what the log keeps. */
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { scriptedProvider } from '../../../support/world.ts';

const MODEL = 'claude-sonnet-4-5';
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [
    { type: 'text', text: 'Let me see.' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 6, output_tokens: 7 },
};
const ASK = { model: MODEL, messages: [{ role: 'user' as const, content: 'The weather in Paris?' }] };
const STREAM = readFileSync(
  new URL('../../../support/fixtures/gateway/streams/tool-use.anthropic.sse', import.meta.url),
);

const json = (body: unknown, status = 200): Behaviour => ({ kind: 'json', body, status });
const sse = (body: Uint8Array): Behaviour => ({
  kind: 'bytes',
  body,
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
});

const anthropic = await scriptedProvider(t);
const gateway = await startTestGateway(t, {
  ANTHROPIC_API_KEY: 'sk-ant-operator',
  ANTHROPIC_BASE_URL: anthropic.url.replace(/\/v1$/, ''),
});
const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
t.beforeEach(() => {
  for (const provider of [anthropic, gateway.provider]) {
    provider.script(null);
    provider.requests.length = 0;
  }
});

t.test(
  "an Anthropic message reaches OpenAI's client as a completion, and is recorded as one with its cost",
  async (t) => {
    anthropic.script(() => json(MESSAGE));
    const { data, response } = await client.chat.completions.create(ASK).withResponse();
    const [choice] = data.choices;
    t.match(choice, {
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me see.',
        tool_calls: [{ id: 'toolu_1', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      },
    });
    t.match(data.usage, {
      prompt_tokens: 20,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 4 },
    });
    const [heard] = anthropic.requests;
    t.match(heard, {
      path: '/v1/messages',
      headers: {
        'x-api-key': 'sk-ant-operator',
        'anthropic-version': '2023-06-01',
        authorization: undefined,
      },
    });
    t.match(JSON.parse(heard!.body.toString()), {
      model: MODEL,
      max_tokens: 8_192,
      messages: [{ role: 'user' }],
    });
    const record = await gateway.record(response.headers.get('service-request-id')!);
    t.match(record, {
      provider: 'ANTHROPIC',
      status: 200,
      request_model: MODEL,
      response_model: MESSAGE.model,
      prompt_tokens: 20,
      completion_tokens: 7,
      truncated: false,
    });
    t.ok(Number(record.cost_nano) > 0);
    t.same(JSON.parse(record.response_text), data, 'the log has what the client read');
    t.same(JSON.parse(record.request_text), ASK, 'and what it asked');
  },
);

t.test(
  'an Anthropic stream arrives as chunks, with usage only if requested, and is recorded whole',
  async (t) => {
    anthropic.script(() => sse(STREAM));
    for (const asks of [false, true]) {
      const { data, response } = await client.chat.completions
        .create({ ...ASK, stream: true, ...(asks && { stream_options: { include_usage: true } }) })
        .withResponse();
      let text = '';
      let finish: string | null = null;
      let usage: unknown = null;
      for await (const chunk of data) {
        text += chunk.choices[0]?.delta.content ?? '';
        finish = chunk.choices[0]?.finish_reason ?? finish;
        usage = chunk.usage ?? usage;
      }
      t.not(text, '');
      t.equal(finish, 'tool_calls');
      t.equal(usage !== null, asks);
      const record = await gateway.record(response.headers.get('service-request-id')!);
      t.match(record, { provider: 'ANTHROPIC', is_stream: true, truncated: false, status: 200 });
      t.equal(record.prompt_tokens, 472 + 100 + 20);
      t.ok(Number(record.cost_nano) > 0);
      t.match(JSON.parse(record.response_text), { choices: [{ message: { content: text } }] });
    }
  },
);

t.test("an Anthropic error keeps its status and message, in OpenAI's format", async (t) => {
  for (const [status, type] of [
    [400, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [529, 'overloaded_error'],
  ] as const) {
    anthropic.script(() => ({
      ...(json({ type: 'error', error: { type, message: 'Not now' } }, status) as Behaviour & {
        kind: 'json';
      }),
      headers: { 'retry-after': '7' },
    }));
    const answer = await gateway.chat(ASK);
    t.equal(answer.status, status);
    t.equal(answer.headers.get('retry-after'), '7');
    t.match(await answer.json(), { error: { type, message: 'Not now' } });
  }
  anthropic.script(() => ({ kind: 'html', status: 503 }));
  const page = await gateway.chat(ASK);
  t.equal(page.status, 503);
  t.match(page.headers.get('content-type'), /application\/json/);
  t.type(((await page.json()) as { error: { message: string } }).error.message, 'string');
});

t.test(
  'a body that is no message is a 502, and an Anthropic stream that breaks off has no [DONE]',
  async (t) => {
    anthropic.script(() => json({ hello: 'world' }));
    const odd = await gateway.chat(ASK);
    t.equal(odd.status, 502);
    t.match(await odd.json(), { error: { code: 'provider_bad_answer' } });
    t.match(await gateway.record(odd), { status: 502, error_code: 'provider_bad_answer' });

    anthropic.script(() => ({
      ...(sse(STREAM.subarray(0, 900)) as Behaviour & { kind: 'bytes' }),
      ending: 'cut',
    }));
    const cut = await gateway.chat({ ...ASK, stream: true });
    const text = await cut.text();
    t.match(text, /"error"/);
    t.notMatch(text, /\[DONE\]/);
    t.match(await gateway.record(cut), { truncated: true });
  },
);

t.test('an Anthropic stream that breaks off keeps the prompt tokens of its message_start', async (t) => {
  anthropic.script(() => ({
    ...(sse(STREAM.subarray(0, 900)) as Behaviour & { kind: 'bytes' }),
    ending: 'cut',
  }));
  const cut = await gateway.chat({ ...ASK, stream: true, stream_options: { include_usage: true } });
  t.notMatch(await cut.text(), /usage|assay/, 'clients add up what they are told');
  const record = await gateway.record(cut);
  t.match(record, { prompt_tokens: 472 + 100 + 20, usage_estimated: true });
  t.ok(record.completion_tokens! > 0, 'and what was said is counted here');
  const { response_text: said } = record;
  t.same(JSON.parse(said).usage, {
    prompt_tokens: 472 + 100 + 20,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 100 },
  });
});

t.test('a request that Anthropic cannot express is refused before Anthropic is called', async (t) => {
  const refused = await gateway.chat({ ...ASK, n: 2 });
  t.equal(refused.status, 400);
  t.match(await refused.json(), { error: { code: 'invalid_body', message: /\bn\b/ } });
  t.same(anthropic.requests, []);
});

t.test(
  'a cached translated response is what the first client read, and needs no provider request',
  async (t) => {
    anthropic.script((request) =>
      (JSON.parse(request.body.toString()) as { stream?: boolean }).stream === true
        ? sse(STREAM)
        : json(MESSAGE),
    );
    for (const stream of [false, true]) {
      const before = anthropic.requests.length;
      const ask = () => gateway.chat({ ...ASK, stream }, { 'service-cache-enabled': 'true' });
      const first = await ask();
      const told = await first.text();
      const second = await ask();
      t.equal(second.headers.get('service-cache'), 'HIT');
      t.equal(await second.text(), told);
      t.equal(anthropic.requests.length, before + 1);
    }
  },
);
