/** Messages requests as OpenAI's Responses take them. */
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { parseExactJson } from '#core/json/mod.ts';
import { readMessagesRequest, writeResponsesRequest } from '../../../../../gateway/dialects/mod.ts';

const OPTIONS = { model: 'gpt-5.6', provider: 'OPENAI', highestEffort: 'max', effortModels: null } as const;

function requestOf(more: JsonObject, options: Partial<Parameters<typeof writeResponsesRequest>[1]> = {}) {
  const body = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...more };
  return writeResponsesRequest(readMessagesRequest(body), { ...OPTIONS, ...options });
}

/** The items of a conversation. */
const itemsOf = (messages: JsonObject[], more: JsonObject = {}) =>
  requestOf({ messages, ...more }).input as JsonObject[];

t.test('a plain call has its text, its limit and nothing that is stored at OpenAI', async (t) => {
  t.same(requestOf({ system: 'Be brief' }), {
    model: 'gpt-5.6',
    input: [
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
    ],
    max_output_tokens: 100,
    store: false,
  });
});

t.test('tools keep their schemas as they are, and are strict only where the caller says so', async (t) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const tools = [
    { name: 'weather', description: 'The weather', input_schema: schema },
    { name: 'time', input_schema: schema, strict: true },
  ];
  t.match(requestOf({ tools, tool_choice: { type: 'any', disable_parallel_tool_use: true } }), {
    tools: [
      { type: 'function', name: 'weather', description: 'The weather', parameters: schema, strict: false },
      { type: 'function', name: 'time', description: undefined, parameters: schema, strict: true },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
  });
  t.same(requestOf({ tools, tool_choice: { type: 'tool', name: 'time' } }).tool_choice, {
    type: 'function',
    name: 'time',
  });
});

t.test(
  'calls and results are items of their own, in their places, with what their results show',
  async (t) => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const items = itemsOf([
      { role: 'user', content: 'Look at it' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'see', input: { path: '/a' } },
          { type: 'tool_use', id: 'toolu_2', name: 'read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Here' }, image] },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'No such file', is_error: true },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
    t.same(items.slice(1), [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'I look.' }],
        phase: 'commentary',
      },
      { type: 'function_call', call_id: 'toolu_1', name: 'see', arguments: '{"path":"/a"}' },
      { type: 'function_call', call_id: 'toolu_2', name: 'read', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'toolu_1',
        output: [
          { type: 'input_text', text: 'Here' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        ],
      },
      { type: 'function_call_output', call_id: 'toolu_2', output: 'Error: No such file' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ]);
  },
);

t.test(
  'numbers of arguments are kept to the digit, and ids too long for OpenAI are shortened alike',
  async (t) => {
    const id = 'toolu_'.padEnd(80, 'x');
    const body = parseExactJson(
      `{"max_tokens":100,"messages":[
      {"role":"assistant","content":[{"type":"tool_use","id":"${id}","name":"f","input":{"n":12345678901234567890.10}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"${id}","content":"x"}]}]}`,
    ) as JsonObject;
    const [call, result] = writeResponsesRequest(readMessagesRequest(body), OPTIONS).input as JsonObject[];
    t.equal(call!.arguments, '{"n":12345678901234567890.10}');
    t.equal(String(call!.call_id).length, 64);
    t.equal(result!.call_id, call!.call_id);
  },
);

t.test('documents are files, or texts after their titles', async (t) => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  const [message] = itemsOf([
    {
      role: 'user',
      content: [
        { type: 'document', source: pdf, title: 'a.pdf' },
        { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'T' }, title: 'c' },
        { type: 'image', source: { type: 'url', url: 'https://example.com/d.png' } },
      ],
    },
  ]);
  t.same(message!.content, [
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    { type: 'input_file', file_url: 'https://example.com/b.pdf' },
    { type: 'input_text', text: 'c\n\nT' },
    { type: 'input_image', image_url: 'https://example.com/d.png', detail: 'auto' },
  ]);
});

t.test('thinking is an effort, and comes back encrypted only to callers that think', async (t) => {
  const of = (more: JsonObject) => {
    const { reasoning, include } = requestOf(more);
    return { reasoning, include };
  };
  const include = ['reasoning.encrypted_content'];
  const budget = { type: 'enabled', budget_tokens: 20_000 };
  t.same(of({}), { reasoning: undefined, include: undefined });
  t.same(of({ thinking: { type: 'disabled' } }), { reasoning: { effort: 'none' }, include: undefined });
  t.same(of({ thinking: { type: 'adaptive' } }), { reasoning: undefined, include });
  t.same(of({ thinking: { ...budget, display: 'summarized' } }), {
    reasoning: { effort: 'high', summary: 'auto' },
    include,
  });
  t.same(of({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }), {
    reasoning: { effort: 'low' },
    include,
  });
});

t.test('the form of the answer is that of a strict schema with a name', async (t) => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  t.same(requestOf({ output_config: { format: { type: 'json_schema', schema } } }).text, {
    format: { type: 'json_schema', name: 'answer', schema, strict: true },
  });
});

t.test('a limit below what OpenAI takes is its lowest, and a temperature of 1 is left out', async (t) => {
  t.match(requestOf({ max_tokens: 1, temperature: 1, top_p: 1 }), {
    max_output_tokens: 16,
    temperature: undefined,
    top_p: undefined,
  });
  t.match(requestOf({ temperature: 0.5, top_p: 0.9 }), { temperature: 0.5, top_p: 0.9 });
});

t.test('what Responses cannot express is refused by its name', async (t) => {
  const refused = (more: JsonObject, message: RegExp) =>
    t.throws(() => requestOf(more), { code: 'invalid_body', message });
  refused({ stop_sequences: ['x'] }, /^stop_sequences /);
  refused({ top_k: 5 }, /^top_k /);
  refused({ mcp_servers: [] }, /^mcp_servers /);
});

/** A block as a client got it. */
const redacted = (data: string) => ({ type: 'redacted_thinking', data });
const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
const turn = (...content: JsonObject[]) => itemsOf([{ role: 'assistant', content }]);

t.test('reasoning goes back to the provider that made it, before what it led to', async (t) => {
  t.same(turn(redacted('~assay.reasoning.OPENAI.rs_1.gAAA.b=='), call), [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA.b==' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
  ]);
  const thinking = { type: 'thinking', thinking: 'Hm', signature: '~assay.reasoning.OPENAI..gAAA' };
  t.same(turn(thinking, call)[0], {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Hm' }],
    encrypted_content: 'gAAA',
  });
});

t.test('reasoning of other makers, and what nothing follows, is left out', async (t) => {
  const own = redacted('~assay.reasoning.OPENAI.rs_1.gAAA');
  for (const other of [
    redacted('~assay.reasoning.AZURE.rs_1.gAAA'),
    redacted('EmwKAhgBEgy3va3pzix'),
    { type: 'thinking', thinking: 'Hm', signature: 'ErUBCkYIARgCIkAx' },
    { type: 'thinking', thinking: 'Hm', signature: '' },
  ])
    t.same(turn(other, call), [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }]);
  t.same(turn(call, own), [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }]);
  t.same(turn(own), []);
});

t.test(
  'what the model said last in a turn is its answer, and what it said before, or before a tool, is not',
  async (t) => {
    const text = (text: string) => ({ type: 'text', text });
    const phases = (...content: JsonObject[]) =>
      turn(...content).flatMap(({ type, phase }) => (type === 'message' ? [phase] : []));
    const thought = redacted('~assay.reasoning.OPENAI.rs_1.gAAA');
    t.same(phases(text('Done.')), ['final_answer']);
    t.same(phases(text('I look.'), call), ['commentary']);
    t.same(phases(text('I look.'), call, text('And there.'), call), ['commentary', 'commentary']);
    t.same(phases(text('I have looked.'), thought, text('It is this.')), ['commentary', 'final_answer']);
    t.same(phases(text('It is'), text(' this.'), thought), ['final_answer'], 'parts of one message');
    t.same(itemsOf([{ role: 'user', content: 'Hello' }])[0]!.phase, undefined, 'users have none');
  },
);
