import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { toMessagesRequest } from '../../../../../../gateway/providers/anthropic/mod.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };

function translated(body: JsonObject, model = 'claude-opus-4-6'): JsonObject {
  return toMessagesRequest({ model: 'asked', messages: HELLO, ...body }, { model, maxTokensDefault: 4_096 });
}

function messagesOf(...messages: JsonObject[]): unknown {
  return translated({ messages }).messages;
}

/** Returns the sentence that refuses a body. */
function refusal(body: JsonObject, model?: string): string {
  try {
    translated(body, model);
  } catch (error) {
    if (error instanceof AssayError && error.code === 'invalid_body') return error.message;
    throw error;
  }
  return 'it was translated';
}

t.test(
  'a minimal chat request is translated with Anthropic’s name of the model and the default max_tokens',
  async (t) => {
    t.same(translated({}), { model: 'claude-opus-4-6', max_tokens: 4_096, messages: HELLO });
  },
);

t.test('fields known to both dialects are translated, and a null field counts as missing', async (t) => {
  t.same(
    translated({
      max_tokens: 5,
      max_completion_tokens: 7,
      temperature: 1,
      top_p: 0.5,
      stop: 'END',
      stream: true,
      user: 'u-1',
      service_tier: 'default',
      tools: null,
      tool_choice: null,
      response_format: { type: 'text' },
      n: null,
      logprobs: null,
    }),
    {
      model: 'claude-opus-4-6',
      max_tokens: 7,
      messages: HELLO,
      temperature: 1,
      top_p: 0.5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u-1' },
      service_tier: 'standard_only',
      stream: true,
    },
  );
  t.same(translated({ stop: ['a', 'b'] }).stop_sequences, ['a', 'b']);
});

t.test('chat fields that cannot change an answer are left out of the Messages request', async (t) => {
  const harmless = {
    stream_options: { include_usage: true },
    metadata: { team: 'a' },
    store: true,
    prediction: { type: 'content', content: 'x' },
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    frequency_penalty: 0,
    presence_penalty: 0,
    modalities: ['text'],
    verbosity: 'medium',
  };
  t.same(translated(harmless), translated({}));
});

t.test(
  'a chat field that could change the answer and has no Anthropic equivalent is refused by its name',
  async (t) => {
    const image = (url: string, detail?: string) => [
      { role: 'user', content: [{ type: 'image_url', image_url: { url, detail } }] },
    ];
    const call = (text: string) => [
      ...HELLO,
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }],
      },
    ];
    const part = (content: JsonObject) => [{ role: 'user', content: [content] }];
    const cases: [JsonObject, string][] = [
      [{ n: 2 }, 'n '],
      [{ logprobs: true }, 'logprobs '],
      [{ top_logprobs: 2 }, 'top_logprobs '],
      [{ logit_bias: { 1: 5 } }, 'logit_bias '],
      [{ seed: 0 }, 'seed '],
      [{ frequency_penalty: 0.1 }, 'frequency_penalty '],
      [{ presence_penalty: -1 }, 'presence_penalty '],
      [{ audio: { voice: 'alloy' } }, 'audio '],
      [{ modalities: ['text', 'audio'] }, 'modalities '],
      [{ verbosity: 'low' }, 'verbosity '],
      [{ web_search_options: {} }, 'web_search_options '],
      [{ functions: [] }, 'functions '],
      [{ a_new_field: 1 }, 'a_new_field '],
      [{ constructor: 1 }, 'constructor '],
      [{ temperature: 1.5 }, 'temperature '],
      [{ top_p: 2 }, 'top_p '],
      [{ stop: ' \n' }, 'stop '],
      [{ stop: [''] }, 'stop[0] '],
      [{ service_tier: 'flex' }, 'service_tier '],
      [{ reasoning_effort: 'huge' }, 'reasoning_effort '],
      [{ max_tokens: 0 }, 'max_tokens '],
      [{ messages: [] }, 'messages '],
      [{ messages: 'hi' }, 'messages '],
      [{ messages: [{ role: 'system', content: 'x' }] }, 'messages '],
      [{ messages: [{ role: 'critic', content: 'x' }] }, 'messages[0].role '],
      [{ messages: [{ role: 'user', content: 'x', name: 'Ann' }] }, 'messages[0].name '],
      [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content '],
      [{ messages: part({ type: 'input_audio', input_audio: {} }) }, 'messages[0].content[0] '],
      [
        { messages: part({ type: 'file', file: { file_id: 'file-1' } }) },
        'messages[0].content[0].file.file_id ',
      ],
      [{ messages: image('data:image/bmp;base64,AA') }, 'messages[0].content[0].image_url.url '],
      [{ messages: image('ftp://a/b.png') }, 'messages[0].content[0].image_url.url '],
      [{ messages: image('https://a/b.png', 'low') }, 'messages[0].content[0].image_url.detail '],
      [{ messages: call('{"a":') }, 'messages[1].tool_calls[0].function.arguments '],
      [{ messages: call('[1]') }, 'messages[1].tool_calls[0].function.arguments '],
      [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools[0].type '],
      [{ tools: [TOOL], tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice '],
      [{ tools: [TOOL], tool_choice: 'sometimes' }, 'tool_choice '],
      [{ tool_choice: 'required' }, 'tool_choice '],
      [{ response_format: { type: 'grammar' } }, 'response_format.type '],
      [{ response_format: { type: 'json_object' }, reasoning_effort: 'low' }, 'response_format '],
    ];
    for (const [body, start] of cases) t.ok(refusal(body).startsWith(start), `${start}: ${refusal(body)}`);
  },
);

t.test('system and developer messages at any place become the texts of system, in order', async (t) => {
  const mark = { type: 'ephemeral' };
  const body = translated({
    messages: [
      { role: 'system', content: 'One' },
      { role: 'user', content: 'Hello' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Two', cache_control: mark },
          { type: 'text', text: '' },
        ],
      },
    ],
  });
  t.same(body.system, [
    { type: 'text', text: 'One' },
    { type: 'text', text: 'Two', cache_control: mark },
  ]);
  t.same(body.messages, HELLO);
});

t.test('the results of parallel tool calls and the user message after them become one message', async (t) => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '' } });
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  t.same(
    messagesOf(
      { role: 'user', content: 'Do' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('a'), call('b')],
        refusal: null,
        annotations: [],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: '', is_error: true },
      { role: 'user', content: 'Go on' },
    ),
    [
      { role: 'user', content: 'Do' },
      { role: 'assistant', content: [use('a'), use('b')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'A' },
          { type: 'tool_result', tool_use_id: 'b', is_error: true },
          { type: 'text', text: 'Go on' },
        ],
      },
    ],
  );
});

t.test('a tool result without its call becomes user text, and is dropped when empty', async (t) => {
  t.same(
    messagesOf(
      { role: 'user', content: 'Do' },
      { role: 'tool', tool_call_id: 'x', content: 'A' },
      { role: 'tool', tool_call_id: 'y', content: '' },
    ),
    [
      { role: 'user', content: 'Do' },
      { role: 'user', content: 'A' },
    ],
  );
});

t.test('numbers in tool arguments that a double cannot hold keep their digits', async (t) => {
  const text = '{"id":12345678901234567890,"small":[-0.12345678901234567890,1.5],"big":1e400}';
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: text } };
  const body = translated({ messages: [...HELLO, { role: 'assistant', tool_calls: [call] }] });
  t.match(JSON.stringify(body), `"input":${text}`);
});

t.test('tool call ids that Anthropic would refuse are rewritten, alike in call and result', async (t) => {
  const call = { id: 'call:1|ü', type: 'function', function: { name: 'f', arguments: '{}' } };
  t.match(
    messagesOf(
      ...HELLO,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call:1|ü', content: 'x' },
    ),
    [{}, { content: [{ id: 'call_3a_1_7c__fc_' }] }, { content: [{ tool_use_id: 'call_3a_1_7c__fc_' }] }],
  );
});

t.test('images, PDFs and text files become Anthropic sources', async (t) => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  t.same(
    messagesOf({
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' }, cache_control: mark },
        { type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBERi0=' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;charset=utf-8;base64,w6k=' } },
      ],
    }),
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' },
            cache_control: mark,
          },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'a.pdf',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' }, title: 'a.txt' },
        ],
      },
    ],
  );
});

t.test('signed thinking blocks are sent back before the text, unsigned reasoning is not', async (t) => {
  const blocks = [
    { type: 'thinking', thinking: 'Hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'xyz' },
  ];
  t.same(
    messagesOf(...HELLO, {
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Hm',
      thinking_blocks: blocks,
    }),
    [...HELLO, { role: 'assistant', content: [...blocks, { type: 'text', text: 'Hi' }] }],
  );
});

t.test('a tool’s schema is kept whole, and a missing schema or type becomes an object', async (t) => {
  const parameters = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: { A: { type: 'object', additionalProperties: false, properties: { b: { enum: [1, null] } } } },
    additionalProperties: false,
  };
  const tools = [
    { type: 'function', function: { name: 'f', description: 'F', parameters, strict: true } },
    { type: 'function', function: { name: 'g' }, cache_control: { type: 'ephemeral' } },
    { type: 'function', function: { name: 'h', parameters: { properties: {} }, strict: false } },
  ];
  t.same(translated({ tools }).tools, [
    { name: 'f', description: 'F', input_schema: parameters, strict: true },
    { name: 'g', input_schema: { type: 'object', properties: {} }, cache_control: { type: 'ephemeral' } },
    { name: 'h', input_schema: { type: 'object', properties: {} } },
  ]);
  t.match(refusal({ tools }, 'claude-sonnet-4-20250514'), /^tools\[0\]\.function\.strict /);
});

t.test('tool_choice and parallel_tool_calls become Anthropic’s tool_choice', async (t) => {
  const choiceOf = (tool_choice: unknown, parallel_tool_calls?: boolean) =>
    translated({ tools: [TOOL], tool_choice, parallel_tool_calls }).tool_choice;
  t.equal(choiceOf(undefined), undefined);
  t.same(choiceOf('auto'), { type: 'auto' });
  t.same(choiceOf('none', false), { type: 'none' });
  t.same(choiceOf('required'), { type: 'any' });
  t.same(choiceOf({ type: 'function', function: { name: 'f' } }), { type: 'tool', name: 'f' });
  t.same(choiceOf(undefined, false), { type: 'auto', disable_parallel_tool_use: true });
  t.same(choiceOf('required', false), { type: 'any', disable_parallel_tool_use: true });
  t.equal(
    translated({ parallel_tool_calls: false, tool_choice: 'auto' }).tool_choice,
    undefined,
    'without tools none',
  );
});

t.test(
  'reasoning_effort becomes adaptive thinking where the model has it, else a thinking budget',
  async (t) => {
    t.match(translated({ reasoning_effort: 'minimal' }), {
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      max_tokens: 4_096,
    });
    t.match(translated({ reasoning_effort: 'high' }, 'claude-sonnet-4-5-20250929'), {
      thinking: { type: 'enabled', budget_tokens: 16_384 },
      max_tokens: 20_480,
      output_config: undefined,
    });
    t.match(translated({ reasoning_effort: 'high', max_tokens: 5_000 }, 'claude-3-7-sonnet-latest'), {
      thinking: { type: 'enabled', budget_tokens: 4_999 },
      max_tokens: 5_000,
    });
    t.match(
      refusal({ reasoning_effort: 'low', max_tokens: 1_024 }, 'claude-opus-4-20250514'),
      /^reasoning_effort /,
    );
    t.same(translated({ reasoning_effort: 'none' }).thinking, { type: 'disabled' });
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    t.same(translated({ thinking }).thinking, thinking, 'Anthropic’s own setting goes as it is');
  },
);

t.test(
  'a strict response schema becomes structured output, other JSON formats a tool that must be called',
  async (t) => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };
    const format = (strict: boolean) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict } },
    });
    const answer = (input_schema: JsonObject) => ({ name: 'answer_in_json', input_schema });
    t.same(translated(format(true)).output_config, { format: { type: 'json_schema', schema } });
    for (const body of [translated(format(false)), translated(format(true), 'claude-opus-4-1-20250805')]) {
      t.match(body, { tools: [answer(schema)], tool_choice: { type: 'tool', name: 'answer_in_json' } });
      t.notOk(body.output_config);
    }
    t.match(translated({ response_format: { type: 'json_object' }, tools: [TOOL] }), {
      tools: [{ name: 'f' }, answer({ type: 'object', additionalProperties: true })],
      tool_choice: { type: 'any' },
    });
    const forced = translated({ ...format(false), tools: [TOOL], tool_choice: 'required' });
    t.equal((forced.tools as unknown[]).length, 1, 'a call that must be made leaves no text to be JSON');
    t.match(translated({ ...format(false), reasoning_effort: 'low' }), {
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    });
  },
);
