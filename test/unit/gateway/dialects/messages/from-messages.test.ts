import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { ChatRequestOptions } from '../../../../../gateway/dialects/chat/write-request.ts';
import {
  readCompletion,
  readMessagesRequest,
  writeChatRequest,
  writeMessage,
} from '../../../../../gateway/dialects/mod.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];

function translated(body: JsonObject, options: Partial<ChatRequestOptions> = {}): JsonObject {
  return writeChatRequest(
    readMessagesRequest({ model: 'asked', max_tokens: 100, messages: HELLO, ...body }),
    {
      model: 'gpt-4o-mini',
      maxTokensField: 'max_completion_tokens',
      extensions: 'none',
      asksForUsage: false,
      takesUserAndTier: true,
      highestEffort: 'max',
      effortModels: null,
      ...options,
    },
  );
}

function messageOf(completion: JsonObject): JsonObject {
  return writeMessage(readCompletion(completion));
}

function refusal(body: JsonObject): string {
  try {
    translated(body);
  } catch (error) {
    if (error instanceof AssayError && error.code === 'invalid_body') return error.message;
    throw error;
  }
  return 'it was translated';
}

t.test('a Messages request becomes a chat completion request', async (t) => {
  const mark = { type: 'ephemeral' };
  t.same(
    translated(
      {
        system: [{ type: 'text', text: 'Be kind', cache_control: mark }],
        temperature: 0.5,
        stop_sequences: ['END'],
        stream: true,
        metadata: { user_id: 'u' },
        thinking: { type: 'enabled', budget_tokens: 5_000 },
        tools: [{ name: 'f', description: 'F', input_schema: { type: 'object' }, cache_control: mark }],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Do', cache_control: mark }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm', signature: 's' },
              { type: 'text', text: 'Well' },
              { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
            ],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'text', text: 'no file' }],
                is_error: true,
              },
              { type: 'text', text: 'Again' },
            ],
          },
        ],
      },
      { asksForUsage: true },
    ),
    {
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system', content: 'Be kind' },
        { role: 'user', content: 'Do' },
        {
          role: 'assistant',
          content: 'Well',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Error: no file' },
        { role: 'user', content: 'Again' },
      ],
      max_completion_tokens: 100,
      temperature: 0.5,
      stop: ['END'],
      tools: [
        { type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } } },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning_effort: 'medium',
      user: 'u',
      stream: true,
      stream_options: { include_usage: true },
    },
  );
});

const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const AFTER_TOOLS = [
  ...HELLO,
  {
    role: 'assistant',
    content: [{ type: 'thinking', thinking: 'Hm', signature: '' }, use('a'), use('b')],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
  { role: 'assistant', content: [use('c')] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'y' }] },
  { role: 'assistant', content: 'Done' },
  ...HELLO,
];

function assistantsOf(options: Partial<ChatRequestOptions>): JsonObject[] {
  const { messages } = translated({ messages: AFTER_TOOLS, top_p: 0.5 }, options);
  return (messages as JsonObject[]).filter(({ role }) => role === 'assistant');
}

t.test(
  'DeepSeek gets the reasoning of earlier turns with the tool calls that it refuses without',
  async (t) => {
    t.same(
      assistantsOf({ extensions: 'deepseek' }).map((message) => message.reasoning_content),
      ['Hm', '', undefined],
    );
    t.notMatch(JSON.stringify(assistantsOf({})), 'reasoning');
  },
);

t.test(
  'the first tool call of each turn has a signature for Google’s models, from Gemini 3 on',
  async (t) => {
    const signed = (model: string) =>
      assistantsOf({ extensions: 'google', model }).map(({ tool_calls: calls }) =>
        ((calls ?? []) as JsonObject[]).map(({ extra_content: extra }) => extra),
      );
    const extra = { google: { thought_signature: 'skip_thought_signature_validator' } };
    for (const model of ['gemini-3-pro-preview', 'gemini-4-flash', 'gemini-flash-latest', 'gemini-10-pro'])
      t.same(signed(model), [[extra, undefined], [extra], []], model);
    for (const model of ['gemini-2.5-pro', 'gemini-1.5-flash', 'gemma-3-27b-it'])
      t.notMatch(JSON.stringify(signed(model)), 'signature', model);
  },
);

t.test(
  'the billing line of Claude Code, which differs in each request, is left out of the instructions',
  async (t) => {
    const line = 'x-anthropic-billing-header: cc_version=2.1.197.48f; cc_entrypoint=cli; cch=71fea;';
    const of = (system: unknown, messages: JsonObject[] = []) =>
      translated({ system, messages: [...messages, { role: 'user', content: line }] }).messages;
    const user = { role: 'user', content: line };
    const kind = { role: 'system', content: 'Be kind' };
    t.same(
      of([
        { type: 'text', text: line },
        { type: 'text', text: 'Be kind' },
      ]),
      [kind, user],
    );
    t.same(of(`${line}\nBe kind`), [kind, user]);
    t.same(of(line), [user]);
    t.same(of(undefined, [{ role: 'system', content: `${line}\n\nBe kind` }]), [kind, user]);
    t.same(of(`Be kind\n${line}`), [{ role: 'system', content: `Be kind\n${line}` }, user]);
  },
);

t.test('a turn of the assistant without text and tool calls is left out', async (t) => {
  const thinking = { type: 'thinking', thinking: 'Hm', signature: 's' };
  const after = (content: unknown) => [...HELLO, { role: 'assistant', content }, ...HELLO];
  const rolesOf = (content: unknown, options: Partial<ChatRequestOptions> = {}) =>
    (translated({ messages: after(content) }, options).messages as JsonObject[]).map(({ role }) => role);
  for (const content of ['', [], [thinking], [{ type: 'redacted_thinking', data: 'd' }]])
    t.same(rolesOf(content), ['user', 'user']);
  t.same(rolesOf([thinking, { type: 'text', text: 'Well' }]), ['user', 'assistant', 'user']);
  for (const extensions of ['deepseek', 'anthropic'] as const)
    t.same(rolesOf([thinking], { extensions }), ['user', 'assistant', 'user'], extensions);
});

t.test('thinking that is disabled is no reasoning for OpenAI’s models that take it', async (t) => {
  const effortOf = (model: string, fields: JsonObject = {}) =>
    translated({ thinking: { type: 'disabled' }, ...fields }, { model }).reasoning_effort;
  for (const model of ['gpt-5.1', 'gpt-5.2-2025-12-11', 'gpt-5.6-terra', 'gpt-5.4-mini']) {
    t.equal(effortOf(model), 'none', model);
    t.equal(effortOf(model, { output_config: { effort: 'high' } }), 'none', model);
    t.equal(effortOf(model, { thinking: { type: 'adaptive' } }), undefined, model);
  }
  for (const model of [
    'gpt-4o',
    'gpt-5',
    'gpt-5-mini',
    'o3',
    'gpt-5.2-chat-latest',
    'gpt-5.1-codex',
    'gpt-5.4-pro',
  ])
    t.equal(effortOf(model), undefined, model);
  t.equal(effortOf('gpt-5', { output_config: { effort: 'high' } }), 'high');
});

t.test('a PDF has a name, which OpenAI asks for, and a text document becomes text', async (t) => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  const text = { type: 'text', media_type: 'text/plain', data: 'é' };
  const content = [
    { type: 'document', source: pdf },
    { type: 'document', source: pdf, title: 'a.pdf' },
    { type: 'document', source: text },
    { type: 'document', source: text, title: 'Notes' },
  ];
  const file_data = 'data:application/pdf;base64,JVBERi0=';
  t.same(translated({ messages: [{ role: 'user', content }] }).messages, [
    {
      role: 'user',
      content: [
        { type: 'file', file: { filename: 'document.pdf', file_data } },
        { type: 'file', file: { filename: 'a.pdf', file_data } },
        { type: 'text', text: 'é' },
        { type: 'text', text: 'Notes\n\né' },
      ],
    },
  ]);
});

t.test('user and service tier are left out for a provider that refuses them', async (t) => {
  const body = { metadata: { user_id: 'u' }, service_tier: 'standard_only' };
  t.match(translated(body), { user: 'u', service_tier: 'default' });
  const left = translated(body, { takesUserAndTier: false });
  t.notOk('user' in left);
  t.notOk('service_tier' in left);
});

t.test('a user id that is longer than OpenAI takes becomes its SHA-256', async (t) => {
  const userOf = (id: string) => translated({ metadata: { user_id: id } }).user;
  t.equal(userOf('u'.repeat(64)), 'u'.repeat(64));
  t.equal(userOf('u'.repeat(65)), 'f20e249d15fa4b9f44ba21d154f62e1efa76ddfdce5d25139a33a4787cee5a8b');
  const ofSession = (session: string) => userOf(`user_${'0'.repeat(64)}_account__session_${session}`);
  t.equal(ofSession('01234567-89ab-cdef-0123-456789abcdef'), '0'.repeat(64), 'as Claude Code sends it');
  t.equal(ofSession('fedcba98-89ab-cdef-0123-456789abcdef'), '0'.repeat(64));
});

t.test('edits of the context that clear thinking are left out, and others refused', async (t) => {
  const thinking = { type: 'clear_thinking_20251015', keep: 'all' };
  for (const edits of [[thinking], []])
    t.notOk('context_management' in translated({ context_management: { edits } }));
  for (const edits of [[thinking, { type: 'clear_tool_uses_20250919' }], [{}], [null]])
    t.match(refusal({ context_management: { edits } }), /^context_management cannot be translated/);
  t.match(refusal({ context_management: { edits: [], other: 1 } }), /^context_management cannot/);
});

t.test('a Messages field that OpenAI’s dialect cannot express is refused by its name', async (t) => {
  const user = (block: JsonObject) => ({ messages: [{ role: 'user', content: [block] }] });
  const tool = (fields: JsonObject) => ({
    tools: [{ name: 'f', input_schema: { type: 'object' }, ...fields }],
  });
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const pdf = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
  };
  const cases: [JsonObject, string][] = [
    [{ max_tokens: null }, 'max_tokens '],
    [{ top_k: 5 }, 'top_k '],
    [{ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences '],
    [{ mcp_servers: [] }, 'mcp_servers '],
    [{ container: 'c' }, 'container '],
    [{ speed: 'fast' }, 'speed '],
    [{ output_config: { format: { type: 'xml' } } }, 'output_config.format.type '],
    [{ output_config: { shape: 1 } }, 'output_config.shape '],
    [tool({ type: 'web_search_20250305' }), 'tools[0].type '],
    [tool({ input_examples: [{}] }), 'tools[0].input_examples '],
    [{ tool_choice: { type: 'all' } }, 'tool_choice.type '],
    [user({ type: 'search_result' }), 'messages[0].content[0].type '],
    [user({ ...pdf, context: 'x' }), 'messages[0].content[0].context '],
    [user({ ...pdf, citations: { enabled: true } }), 'messages[0].content[0].citations '],
    [user({ type: 'image', source: { type: 'file', file_id: 'f' } }), 'messages[0].content[0].source.type '],
    [user({ type: 'document', source: { type: 'url', url: 'https://a/b.pdf' } }), 'messages[0] '],
    [user({ type: 'tool_result', tool_use_id: 'a', content: [image] }), 'messages[0] '],
    [{ messages: [{ role: 'assistant', content: [image] }] }, 'messages[0].content[0].type '],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role '],
    [{ messages: [] }, 'messages '],
  ];
  for (const [body, start] of cases) t.ok(refusal(body).startsWith(start), `${start}: ${refusal(body)}`);
});

t.test('a completion becomes a message', async (t) => {
  const message = {
    role: 'assistant',
    content: 'Well',
    reasoning_content: 'Hm',
    tool_calls: [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"id":12345678901234567890}' } },
    ],
  };
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 6 },
    completion_tokens_details: { reasoning_tokens: 5 },
  };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const answer = messageOf({ id: 'chatcmpl-1', model: 'gpt-4o-mini', choices, usage });
  t.match(JSON.stringify(answer.content), '"input":{"id":12345678901234567890}');
  t.match(answer, {
    id: 'chatcmpl-1',
    type: 'message',
    role: 'assistant',
    model: 'gpt-4o-mini',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: '~assay.reasoning.unsigned' },
      { type: 'text', text: 'Well' },
      { type: 'tool_use', id: 'a', name: 'f' },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 30,
      cache_creation_input_tokens: 6,
      cache_read_input_tokens: 64,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    },
  });
});

t.test('content in parts, as Mistral’s reasoning models answer, becomes thinking and text', async (t) => {
  const thinking = ['Hm, ', 'a greeting.'].map((text) => ({ type: 'text', text }));
  const content = [
    { type: 'thinking', thinking, closed: true },
    { type: 'text', text: 'Bonjour' },
    { type: 'reference', reference_ids: [1] },
  ];
  t.same(messageOf({ choices: [{ message: { content }, finish_reason: 'stop' }] }).content, [
    { type: 'thinking', thinking: 'Hm, a greeting.', signature: '~assay.reasoning.unsigned' },
    { type: 'text', text: 'Bonjour' },
  ]);
});

t.test('every finish reason becomes its stop reason', async (t) => {
  for (const [finish_reason, stop_reason] of [
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['model_length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['tool_calls', 'tool_use'],
    ['odd', 'end_turn'],
    [null, 'end_turn'],
  ])
    t.match(messageOf({ choices: [{ message: { content: 'x' }, finish_reason }] }), { stop_reason });
});

t.test('a completion whose finish reason tells of a failure is a provider error', async (t) => {
  for (const finish_reason of ['error', 'insufficient_system_resource'])
    t.throws(() => messageOf({ choices: [{ message: { content: 'Half' }, finish_reason }] }), {
      code: 'provider_bad_answer',
      message: finish_reason,
    });
});

t.test('a tool call that was cut off by the limit of tokens is a call without input', async (t) => {
  const call = (id: string, text: string) => ({ id, function: { name: 'f', arguments: text } });
  const message = { content: null, tool_calls: [call('a', '{"x":1}'), call('b', '{"x":"Zür')] };
  const answer = messageOf({ choices: [{ message, finish_reason: 'length' }] });
  t.equal(answer.stop_reason, 'max_tokens');
  t.match(answer.content, [
    { id: 'a', input: { x: 1 } },
    { id: 'b', name: 'f', input: {} },
  ]);
});

t.test('tool arguments that are an object, as Hugging Face’s server sends them, are the input', async (t) => {
  const tool_calls = [{ id: 'a', function: { name: 'f', arguments: { city: 'Zürich' } } }];
  t.match(messageOf({ choices: [{ message: { tool_calls } }] }), {
    content: [{ type: 'tool_use', input: { city: 'Zürich' } }],
  });
});

t.test(
  'tool arguments that are no JSON object, and a body that is no completion, are provider errors',
  async (t) => {
    const call = (text: string) => ({ id: 'a', function: { name: 'f', arguments: text } });
    for (const completion of [
      {},
      { choices: [] },
      { choices: [{ message: { tool_calls: [call('{')] } }] },
      { choices: [{ message: { tool_calls: [call('[]')] } }] },
    ])
      t.throws(() => messageOf(completion), { code: 'provider_bad_answer' });
    t.match(messageOf({ choices: [{ message: { tool_calls: [call('')] } }] }), {
      content: [{ input: {} }],
    });
  },
);
