/** The fields of a chat request as those of a Messages request. */
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { HELLO, refusal, TOOL, translated } from './translated.ts';

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
      temperature: 0.2,
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
      temperature: 0.2,
      top_p: 0.5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u-1' },
      service_tier: 'standard_only',
      stream: true,
    },
  );
  t.same(translated({ stop: ['a', 'b'] }).stop_sequences, ['a', 'b']);
});

t.test('a temperature and a top_p of 1, OpenAI’s defaults, are left out', async (t) => {
  const sampling = (fields: JsonObject) => {
    const { temperature, top_p } = translated(fields);
    return { temperature, top_p };
  };
  t.same(sampling({ temperature: 1, top_p: 1 }), { temperature: undefined, top_p: undefined });
  t.same(sampling({ temperature: 0.7, top_p: 1.0 }), { temperature: 0.7, top_p: undefined });
  t.same(sampling({ temperature: 1, top_p: 0.9 }), { temperature: undefined, top_p: 0.9 });
  t.same(sampling({ temperature: 0, top_p: 0 }), { temperature: 0, top_p: 0 });
});

t.test('a user that Anthropic would refuse becomes its SHA-256', async (t) => {
  const userOf = (fields: JsonObject) => (translated(fields).metadata as JsonObject).user_id;
  const address = 'b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72';
  t.equal(userOf({ user: 'ada@example.com' }), address);
  t.equal(userOf({ safety_identifier: 'ada@example.com', user: 'x' }), address);
  for (const user of ['+1 555 0100-234', '5550100234', 'u'.repeat(257)])
    t.match(userOf({ user }), /^[0-9a-f]{64}$/, user);
  for (const user of ['u-1', '42', 'c0ffee00-0000-4000-8000-000000000000', 'u'.repeat(256)])
    t.equal(userOf({ user }), user);
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
