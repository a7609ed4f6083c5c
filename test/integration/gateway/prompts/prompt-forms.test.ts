/** Stored prompts on every API endpoint: in its own form, or rewritten from that of chat completions. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { storePrompt } from '../../../support/stored-prompt.ts';
import { scriptedProvider } from '../../../support/world.ts';

const anthropic = await scriptedProvider(t);
const gateway = await startTestGateway(t, {
  ANTHROPIC_API_KEY: 'sk-ant-operator',
  ANTHROPIC_BASE_URL: anthropic.url.replace(/\/v1$/, ''),
});
const { sql, organizationId, provider } = gateway;
const openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const claude = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
t.beforeEach(() => {
  for (const each of [provider, anthropic]) {
    each.script(null);
    each.requests.length = 0;
  }
});

const json = (body: unknown): Behaviour => ({ kind: 'json', body });
const sse = (...events: { type: string }[]): Behaviour => ({
  kind: 'bytes',
  body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
});
const MESSAGE = {
  id: 'msg_1',
  type: 'message' as const,
  role: 'assistant' as const,
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text' as const, text: 'Deep.' }],
  stop_reason: 'end_turn' as const,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const RESPONSE = { id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-4o', output: [] };

const bodyOf = (from: typeof provider): unknown => JSON.parse(from.requests.at(-1)!.body.toString());
const store = async (body: unknown) => (await storePrompt(sql, organizationId, { body })).promptId;
const post = (path: string, body: unknown) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const CHAT = {
  temperature: 0.5,
  messages: [
    { role: 'system', content: 'You are {{persona}}.' },
    { role: 'user', content: [{ type: 'text', text: 'Ready, {{persona}}?' }] },
    {
      role: 'assistant',
      content: 'Looking',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"q":"{{q}}"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'It is {{n:number}}' },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'look', description: 'For {{persona}}', parameters: { type: 'object' } },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
};
const INPUTS = { persona: 'Ahab', q: 'sea', n: 7 };
const chat = await store(CHAT);
const ASKED = { role: 'user' as const, content: 'How deep?' };

t.test(
  "Anthropic's client sends a prompt_id, and the prompt's system message becomes the system of Messages",
  async (t) => {
    anthropic.script(() => json(MESSAGE));
    const body = {
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      system: 'Be brief.',
      messages: [ASKED],
      prompt_id: chat,
      inputs: INPUTS,
    };
    const { response } = await claude.messages.create(body).withResponse();
    const expected = {
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      system: [
        { type: 'text', text: 'You are Ahab.' },
        { type: 'text', text: 'Be brief.' },
      ],
      messages: [
        { role: 'user', content: 'Ready, Ahab?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Looking' },
            { type: 'tool_use', id: 'c1', name: 'look', input: { q: 'sea' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'It is 7' }] },
        ASKED,
      ],
      temperature: 0.5,
      tools: [{ name: 'look', description: 'For Ahab', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'look' },
    };
    t.match(bodyOf(anthropic), expected);
    t.strictSame(Object.keys(bodyOf(anthropic) as object).sort(), Object.keys(expected).sort());
    t.match(await gateway.record(response.headers.get('service-request-id')!), {
      prompt_id: chat,
      prompt_version: '1.0',
      inputs: INPUTS,
      path: '/v1/messages',
    });
  },
);

t.test('a stream of Messages, and the count of its tokens, are expanded too', async (t) => {
  const { content: _, ...started } = MESSAGE;
  anthropic.script(() =>
    sse(
      { type: 'message_start', ...{ message: { ...started, content: [] } } },
      { type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } } },
      { type: 'message_stop' },
    ),
  );
  const ask = {
    model: 'claude-sonnet-4-5',
    max_tokens: 50,
    messages: [ASKED],
    prompt_id: chat,
    inputs: INPUTS,
  };
  for await (const event of await claude.messages.create({ ...ask, stream: true }))
    t.type(event.type, 'string');
  t.match(bodyOf(anthropic), { stream: true, system: [{ text: 'You are Ahab.' }], max_tokens: 50 });

  anthropic.script(() => json({ input_tokens: 9 }));
  const { max_tokens: _limit, ...counted } = ask;
  t.match(await claude.messages.countTokens(counted), { input_tokens: 9 });
  t.strictSame(
    Object.keys(bodyOf(anthropic) as object).sort(),
    ['messages', 'model', 'system', 'tool_choice', 'tools'],
    'fields whose tokens cannot be counted stay out',
  );
});

t.test('a prompt in the form of Messages is used on /v1/messages as it is', async (t) => {
  const forms: [object, object][] = [
    [
      { model: 'claude-sonnet-4-5', max_tokens: 9, system: 'You are {{persona}}.', stop_sequences: ['.'] },
      { system: 'You are Ahab.', stop_sequences: ['.'] },
    ],
    [
      { system: [{ type: 'text', text: '{{persona}}', cache_control: { type: 'ephemeral' } }] },
      { system: [{ type: 'text', text: 'Ahab', cache_control: { type: 'ephemeral' } }] },
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'document', source: { data: '{{q}}' } }] }] },
      { messages: [{ role: 'user', content: [{ type: 'document', source: { data: 'sea' } }] }, ASKED] },
    ],
    [
      { tools: [{ name: 'a', input_schema: { type: 'object', title: '{{q}}' } }] },
      { tools: [{ name: 'a', input_schema: { type: 'object', title: 'sea' } }] },
    ],
  ];
  anthropic.script(() => json(MESSAGE));
  for (const [stored, expected] of forms) {
    const call = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [ASKED] };
    await post('/v1/messages', { ...call, prompt_id: await store(stored), inputs: INPUTS });
    t.same(bodyOf(anthropic), { ...call, ...expected });
  }
});

t.test(
  'a prompt of nothing but a system message, or of no message, is called through Messages',
  async (t) => {
    anthropic.script(() => json(MESSAGE));
    const call = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [ASKED] };
    const cases: [object, object][] = [
      [{ messages: CHAT.messages.slice(0, 1) }, { system: [{ type: 'text', text: 'You are Ahab.' }] }],
      [{ messages: [], temperature: 0.5 }, { temperature: 0.5 }],
      [
        { temperature: 0.5, stop: ['x'] },
        { temperature: 0.5, stop_sequences: ['x'] },
      ],
      [{ max_completion_tokens: 7 }, {}],
    ];
    for (const [stored, expected] of cases) {
      await post('/v1/messages', { ...call, prompt_id: await store(stored), inputs: INPUTS });
      t.same(bodyOf(anthropic), { ...call, ...expected });
    }
  },
);

t.test('a prompt is called through Messages with a model of OpenAI', async (t) => {
  await post('/v1/messages', {
    model: 'gpt-4o',
    max_tokens: 9,
    prompt_id: chat,
    inputs: INPUTS,
    messages: [ASKED],
  });
  t.match(bodyOf(provider), {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'You are Ahab.' },
      {},
      {},
      { role: 'tool', content: 'It is 7' },
      ASKED,
    ],
  });
});

t.test(
  "a prompt in the form of chat completions becomes the input of a response, before the call's",
  async (t) => {
    provider.script(() => json(RESPONSE));
    const body = { model: 'gpt-4o', input: 'How deep?', prompt_id: chat, inputs: INPUTS };
    const { response } = await openai.responses.create(body).withResponse();
    t.same(bodyOf(provider), {
      model: 'gpt-4o',
      input: [
        { role: 'system', content: 'You are Ahab.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Ready, Ahab?' }] },
        { role: 'assistant', content: 'Looking' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"q":"sea"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'It is 7' },
        ASKED,
      ],
      temperature: 0.5,
      tools: [
        {
          type: 'function',
          strict: false,
          name: 'look',
          description: 'For Ahab',
          parameters: { type: 'object' },
        },
      ],
      tool_choice: { type: 'function', name: 'look' },
    });
    t.match(await gateway.record(response.headers.get('service-request-id')!), {
      path: '/v1/responses',
      prompt_version: '1.0',
      inputs: INPUTS,
    });
  },
);

t.test('each field of chat completions has its place in a response, or is refused by name', async (t) => {
  provider.script(() => json(RESPONSE));
  const schema = { type: 'object' };
  const cases: [object, object | string][] = [
    [
      { max_tokens: 5, reasoning_effort: 'low' },
      { max_output_tokens: 5, reasoning: { effort: 'low' } },
    ],
    [
      { max_completion_tokens: 5, user: 'ada', top_p: 1 },
      { max_output_tokens: 5, user: 'ada', top_p: 1 },
    ],
    [
      { verbosity: 'low', response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
      { text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema } } },
    ],
    [{ response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
    [{ tool_choice: 'auto' }, { tool_choice: 'auto' }],
    [{ stop: ['x'] }, 'stop is not a field of Responses'],
    [{ constructor: { input: [] } }, 'constructor is not a field of Responses'],
    [JSON.parse('{"__proto__": {}}'), '__proto__ is not a field of Responses'],
    [{ tools: [{ type: 'custom' }] }, 'tools[0].type must be "function"'],
    [{ tools: {} }, 'tools must be an array'],
    [{ messages: [5] }, 'messages[0] must be an object'],
    [{ messages: [{ role: 'user', name: 'ada' }] }, 'messages[0].name is not a field of Responses'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'messages[0].content[0].type must be "text", or "image_url" in what the user says',
    ],
  ];
  for (const [stored, expected] of cases) {
    const messages = [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'low' } }] },
    ];
    const response = await post('/v1/responses', {
      model: 'gpt-4o',
      prompt_id: await store({ messages, ...stored }),
    });
    if (typeof expected === 'string') {
      const message = `The stored prompt cannot be sent to /v1/responses: ${expected}`;
      t.match(await response.json(), { error: { message, code: 'invalid_body' } });
    } else {
      const input = [{ role: 'user', content: [{ type: 'input_image', image_url: 'u', detail: 'low' }] }];
      t.same(bodyOf(provider), { model: 'gpt-4o', input, ...expected });
    }
  }
});

t.test('a prompt in the form of Responses is used on /v1/responses as it is', async (t) => {
  provider.script(() => json(RESPONSE));
  const prompt = await store({ model: 'gpt-4o', instructions: 'You are {{persona}}.', input: 'First' });
  await post('/v1/responses', { prompt_id: prompt, inputs: INPUTS, input: [ASKED], stream: false });
  t.same(bodyOf(provider), {
    input: [{ role: 'user', content: 'First' }, ASKED],
    stream: false,
    model: 'gpt-4o',
    instructions: 'You are Ahab.',
  });
});

t.test('a completion takes a stored text, streamed or not, and no messages', async (t) => {
  const completion = { id: 'c', object: 'text_completion', model: 'gpt-3.5-turbo-instruct', choices: [] };
  provider.script(() => json(completion));
  const prompt = await store({ model: 'gpt-3.5-turbo-instruct', prompt: 'Say {{q}}', max_tokens: 5 });
  await post('/v1/completions', { prompt_id: prompt, inputs: INPUTS, max_tokens: 7 });
  t.same(bodyOf(provider), { max_tokens: 7, model: 'gpt-3.5-turbo-instruct', prompt: 'Say sea' });
  provider.script(() => ({
    kind: 'bytes',
    body: `data: ${JSON.stringify(completion)}\n\ndata: [DONE]\n\n`,
    headers: { 'content-type': 'text/event-stream' },
  }));
  const streamed = await post('/v1/completions', { prompt_id: prompt, inputs: INPUTS, stream: true });
  t.match(await streamed.text(), /\[DONE\]/);
  t.match(bodyOf(provider), { stream: true, prompt: 'Say sea', max_tokens: 5 });
  const refused = await post('/v1/completions', { prompt_id: chat, inputs: INPUTS });
  t.match(await refused.json(), { error: { message: /has messages.*call \/v1\/chat\/completions$/ } });
});

t.test('a prompt_id on an endpoint that is no chat is a 400 that names it', async (t) => {
  for (const path of ['/v1/embeddings', '/v1/moderations']) {
    const response = await post(path, { model: 'text-embedding-3-small', input: 'x', prompt_id: chat });
    t.equal(response.status, 400);
    t.match(await response.json(), {
      error: {
        message: `prompt_id is not allowed on ${path}: a stored prompt is the body of a chat`,
        code: 'invalid_body',
      },
    });
  }
  t.equal(provider.requests.length, 0);
});

t.test('a mistake in a prompt is in the error format of its endpoint', async (t) => {
  const ask = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [ASKED] };
  const unknown = await post('/v1/messages', { ...ask, prompt_id: 'none' });
  t.equal(unknown.status, 400);
  t.match(await unknown.json(), {
    type: 'error',
    error: { type: 'invalid_request_error', message: /"none"/ },
  });
  const asTool = await store({ messages: [], response_format: { type: 'json_object' } });
  t.match(await (await post('/v1/messages', { ...ask, prompt_id: asTool })).json(), {
    error: { message: /: response_format cannot be expressed for this model: ask for JSON in a message$/ },
  });
  const bad = await post('/v1/messages', {
    ...ask,
    prompt_id: await store({ messages: [{ role: 'robot' }] }),
  });
  t.match(await bad.json(), {
    error: { message: /^The stored prompt cannot be sent to \/v1\/messages: messages\[0\]\.role/ },
  });
});
