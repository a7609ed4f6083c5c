/** What is counted of a call, and what is not, in each dialect. */
import fc from 'fast-check';
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import {
  countableAnswer,
  countableConversation,
  countablePlain,
  isEmbeddings,
} from '../../../../ingest/tokens/mod.ts';

/** The texts that would be counted, in order. */
const asked = (request: JsonObject) => countableConversation(request)?.text.split('\0') ?? null;
const answered = (answer: JsonObject) => countableAnswer(answer)?.text.split('\0') ?? null;

t.test("the text of a chat's messages is counted for every role, without images and audio", async (t) => {
  const request = {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        name: 'ada',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    ],
  };
  t.same(asked(request), ['Be brief', 'ada', 'What is this?', 'look', '{}', 'a cat']);
});

t.test('the system prompt, blocks, tool calls and tool results of Messages are counted', async (t) => {
  const request = {
    system: [{ type: 'text', text: 'Be brief' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Read this' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a story' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'a cat' }] },
        ],
      },
    ],
  };
  t.same(asked(request), ['Be brief', 'Read this', 'a story', 'look', '{"at":"it"}', 'a cat']);
});

t.test('the instructions and items of Responses are counted', async (t) => {
  t.same(asked({ instructions: 'Be brief', input: 'Hello' }), ['Be brief', 'Hello']);
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'They greet' }] },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'a cat' },
  ];
  t.same(asked({ input }), ['Hello', 'They greet', 'look', '{}', 'a cat']);
});

const WEATHER = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Its name' },
    unit: { type: 'string', enum: ['c', 'f'] },
    days: { type: 'array', items: { type: 'object', properties: { date: { type: 'string' } } } },
    place: { $ref: '#/$defs/Place' },
  },
  required: ['city'],
  additionalProperties: false,
  $defs: { Place: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
};
const DECLARED = `# Tools

## functions

namespace functions {

// Tells it
type weather = (_: {
// Its name
city: string,
unit?: "c" | "f",
days?: {
date?: string,
}[],
place?: any,
}) => any;

type Place = string | null;

} // namespace functions`;

t.test('tools are counted as models see them, whatever the dialect', async (t) => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const definition = { name: 'weather', description: 'Tells it' };
  const dialects = [
    { type: 'function', function: { ...definition, parameters: WEATHER } },
    { type: 'function', ...definition, parameters: WEATHER },
    { ...definition, input_schema: WEATHER },
  ];
  for (const tool of dialects) t.same(asked({ messages, tools: [tool] }), ['Hi', DECLARED]);
  const before = { messages, functions: [{ ...definition, parameters: WEATHER }] };
  t.same(asked(before), ['Hi', DECLARED], 'as it was before tools');
  t.same(
    asked({ messages, tools: [{ type: 'web_search' }] }),
    ['Hi'],
    'not those that the provider brings along',
  );
});

t.test('the schema of a response format is counted', async (t) => {
  const schema = {
    name: 'weather',
    schema: { type: 'object', required: ['city'], properties: { city: {} } },
  };
  const told = '# Response Formats\n\n## weather\n\n{"type":"object","properties":{"city":{}}}';
  const inChat = {
    messages: [{ role: 'user', content: 'Hi' }],
    response_format: { type: 'json_schema', json_schema: schema },
  };
  const inResponses = { input: 'Hi', text: { format: { type: 'json_schema', ...schema } } };
  for (const request of [inChat, inResponses]) t.same(asked(request), ['Hi', told]);
  t.same(asked({ ...inChat, response_format: { type: 'json_object' } }), ['Hi']);
});

t.test('the text, refusal, reasoning and tool calls of an answer are counted', async (t) => {
  const message = {
    role: 'assistant',
    content: 'Hello',
    refusal: 'No',
    reasoning_content: 'Hm',
    reasoning: 'Hm',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
  };
  const second = { index: 1, message: { role: 'assistant', content: 'Hi' } };
  t.same(answered({ choices: [{ index: 0, message }, second] }), [
    'Hello',
    'No',
    'look',
    '{"a":1}',
    'Hm',
    'Hi',
  ]);
  t.same(answered({ choices: [{ index: 0, text: 'Hello' }] }), ['Hello'], 'of the older completions');
  const content = [
    { type: 'thinking', thinking: 'Hm', signature: 'AAAA' },
    { type: 'text', text: 'Hello' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } },
  ];
  t.same(answered({ type: 'message', content }), ['Hm', 'Hello', 'look', '{"a":1}'], 'of Messages');
  const output = [
    {
      type: 'reasoning',
      id: 'rs_1',
      encrypted_content: 'AAAA',
      summary: [{ type: 'summary_text', text: 'Hm' }],
    },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"a":1}' },
  ];
  t.same(answered({ object: 'response', output }), ['Hm', 'Hello', 'look', '{"a":1}'], 'of Responses');
});

t.test('an answer without text and tool calls has nothing to count', async (t) => {
  const nothing: JsonObject[] = [
    {},
    { choices: [] },
    { choices: [{ index: 0, message: { role: 'assistant', content: null } }] },
    { choices: [{ index: 0, message: { role: 'assistant', content: '' } }] },
    { type: 'message', content: [] },
    { error: { message: 'overloaded' } },
    { text: '<html>' },
    { data: [{ b64_json: 'AAAA' }] },
    { results: [{ flagged: false }] },
  ];
  for (const answer of nothing) t.equal(countableAnswer(answer), null, JSON.stringify(answer));
  t.equal(countableConversation({}), null);
  t.equal(countableConversation({ messages: [] }), null);
});

t.test('a plain prompt is text, or numbers that are tokens already', async (t) => {
  t.same(countablePlain('Once'), { text: 'Once', extraTokens: 0 });
  t.same(countablePlain(['a', 'b'])?.text.split('\0'), ['a', 'b']);
  t.same(countablePlain([1, 2, 3]), { text: '', extraTokens: 3 });
  t.same(countablePlain([[1, 2], [3]]), { text: '', extraTokens: 3 });
  for (const none of [undefined, null, {}, '', []]) t.equal(countablePlain(none), null);
});

t.test('embeddings are recognized by their answer', async (t) => {
  t.ok(isEmbeddings({ object: 'list', data: [{ object: 'embedding', embedding: [0.1] }] }));
  t.ok(isEmbeddings({ object: 'list' }), 'also where it is left out of the record');
  t.notOk(isEmbeddings({ object: 'list', data: [{ id: 'gpt-4o' }] }));
  t.notOk(isEmbeddings({ object: 'chat.completion' }));
});

/** The members that anything is looked for in, and some more. */
const NAMES = [
  'messages',
  'input',
  'system',
  'instructions',
  'prompt',
  'tools',
  'functions',
  'function',
  'parameters',
  'properties',
  'items',
  'anyOf',
  'enum',
  '$defs',
  'response_format',
  'json_schema',
  'schema',
  'format',
  'text',
  'name',
  'content',
  'choices',
  'message',
  'tool_calls',
  'arguments',
  'output',
  'source',
  'type',
  'data',
  'reasoning',
  'summary',
  'object',
  '__proto__',
];

t.test('finding countable text never throws, whatever JSON it is given', async () => {
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom<unknown>(null, true, 0, -1, 1e308, '', 'text', '\0', '\ud800', 'object', 'list'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('json')), { maxLength: 5 }).map((entries) => {
        const made: JsonObject = Object.create(null);
        for (const [name, value] of entries) made[name] = value;
        return made;
      }),
    ),
  }));
  const object = fc.dictionary(fc.constantFrom(...NAMES), json, { maxKeys: 8, noNullPrototype: false });
  fc.assert(
    fc.property(object, (value) => {
      countableConversation(value);
      countableAnswer(value);
      countablePlain(value.input);
      isEmbeddings(value);
    }),
    { numRuns: 5_000 },
  );
});

t.test('finding countable text never throws, however deep the JSON is', async (t) => {
  const deep = (open: string, close: string) => JSON.parse(`${open.repeat(50_000)}1${close.repeat(50_000)}`);
  const nested = [
    deep('[', ']'),
    deep('{"content":', '}'),
    deep('{"properties":{"a":', '}}'),
    deep('{"anyOf":[', ']}'),
  ];
  for (const value of nested) {
    t.doesNotThrow(() => {
      countableConversation({ messages: [value, { tool_calls: [{ function: { arguments: value } }] }] });
      countableConversation({
        input: 'a',
        tools: [{ name: 'a', parameters: value }],
        text: { format: { schema: value } },
      });
      countableAnswer({ content: [{ type: 'tool_use', name: 'a', input: { value } }] });
      countablePlain(value);
    });
  }
});
