import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { isMessageStopFrame } from '../../../../../gateway/dialects/mod.ts';
import { dataOf, fixture, fromOpenAi, translateCut } from '../streams.ts';

function chunk(delta: JsonObject, finish_reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'gpt-4o-mini', choices })}\n\n`;
}

const DONE = 'data: [DONE]\n\n';

function eventsOf(stream: string | Buffer): JsonObject[] {
  const out = translateCut(fromOpenAi, Buffer.from(stream), []);
  for (const frame of out.split('\n\n').slice(0, -1)) {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
    if (JSON.parse(data ?? '{}').type !== name)
      throw new Error(`An event is not named as its data: ${frame}`);
  }
  return dataOf(out) as JsonObject[];
}

/** The content that a client puts together, and that blocks start and stop once, in order. */
function contentOf(events: JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  const open = new Set<unknown>();
  for (const event of events) {
    const index = event.index as number;
    if (event.type === 'content_block_start') {
      if (index !== blocks.length) throw new Error('Blocks are not counted from 0');
      blocks.push({ ...(event.content_block as JsonObject) });
      open.add(index);
    } else if (event.type === 'content_block_stop') {
      if (!open.delete(index)) throw new Error('A block stopped that was not open');
    } else if (event.type === 'content_block_delta') {
      if (!open.has(index)) throw new Error('A delta came for a block that was not open');
      const block = blocks[index]!;
      const delta = event.delta as Record<string, string>;
      if (delta.type === 'text_delta') block.text = `${String(block.text)}${delta.text}`;
      if (delta.type === 'thinking_delta') block.thinking = `${String(block.thinking)}${delta.thinking}`;
      if (delta.type === 'input_json_delta') block.json = `${String(block.json ?? '')}${delta.partial_json}`;
    }
  }
  if (open.size > 0) throw new Error('A block is still open');
  return blocks;
}

t.test(
  'text and tool calls of a chat stream become blocks, and the token counts come with the end',
  async (t) => {
    const events = eventsOf(fixture('tools.openai'));
    t.match(events[0], {
      type: 'message_start',
      message: { id: 'chatcmpl-9', model: 'gpt-4o-mini', content: [] },
    });
    t.same(contentOf(events), [
      { type: 'text', text: 'Let me look: "🌦"\n' },
      { type: 'tool_use', id: 'call_a', name: 'get_weather', input: {}, json: '{"location":"Zürich"}' },
      { type: 'tool_use', id: 'call_b', name: 'now', input: {}, json: '{}' },
    ]);
    t.same(events.slice(-2), [
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: {
          input_tokens: 36,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 64,
          output_tokens: 20,
          output_tokens_details: { thinking_tokens: 0 },
        },
      },
      { type: 'message_stop' },
    ]);
    const stops = events.filter(({ type }) => type === 'content_block_stop').map(({ index }) => index);
    t.same(stops, [0, 1, 2], 'one block is open at a time');
  },
);

t.test('chat chunks that differ only in content translate the same by bytes as parsed', async (t) => {
  const contents = ['a "quoted"', 'back\\slash\\', '\u0001', '🌦', '', '"content":"x"', '}', 'é\n'];
  const frame = (content: string, extra: string) =>
    `data: {"id":"c","model":"m","note":"\\"content\\":","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}]${extra}}\n\n`;
  const extras = ['', ',"obfuscation":"xy"', ',"obfuscation":"a\\"b"', ',"usage":null', ',"obfuscation":""'];
  for (const first of contents.filter((content) => content !== '')) {
    for (const extra of extras) {
      const others = contents.flatMap((content) => [frame(content, extra), frame(content, extras[1]!)]);
      const events = eventsOf(frame(first, extra) + others.join('') + chunk({}, 'stop') + DONE);
      const text = first + contents.map((content) => content + content).join('');
      t.same(contentOf(events), [{ type: 'text', text }], JSON.stringify([first, extra]));
    }
  }
});

t.test('chat chunks with more than their content are translated in full each time', async (t) => {
  const more = chunk({ content: 'a', reasoning_content: 'r' });
  const said = [
    { type: 'thinking', thinking: 'r', signature: '' },
    { type: 'text', text: 'a' },
  ];
  t.same(contentOf(eventsOf(more + more + chunk({}, 'stop') + DONE)), [...said, ...said]);
  const choice = (index: number, content: string) => ({ index, delta: { content }, finish_reason: null });
  const both = (one: string, other: string) =>
    `data: ${JSON.stringify({ id: 'c', choices: [choice(1, one), choice(0, other)] })}\n\n`;
  const events = eventsOf(both('x', 'x') + both('y', 'x') + chunk({}, 'stop') + DONE);
  t.same(contentOf(events), [{ type: 'text', text: 'xx' }], 'of several choices the first, by its index');
});

t.test('message_stop is alone in its buffer at the end of a translated stream', async (t) => {
  const translator = fromOpenAi();
  const frames = translator.push(fixture('tools.openai')).map(String);
  t.same(
    frames.map((frame) => isMessageStopFrame(Buffer.from(frame))),
    frames.map((_, index) => index === frames.length - 1),
  );
  t.equal(frames.at(-1), 'event: message_stop\ndata: {"type":"message_stop"}\n\n');
  t.ok(translator.isComplete);
});

t.test('reasoning in a chat stream becomes a thinking block before the text', async (t) => {
  const stream =
    chunk({ reasoning_content: 'H' }) + chunk({ reasoning: 'm' }) + chunk({ content: 'Hi' }, 'stop') + DONE;
  t.same(contentOf(eventsOf(stream)), [
    { type: 'thinking', thinking: 'Hm', signature: '' },
    { type: 'text', text: 'Hi' },
  ]);
});

t.test('content in parts, as Mistral’s reasoning models stream it, becomes thinking and text', async (t) => {
  const think = (text: string) =>
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
  const stream =
    think('H') +
    think('m') +
    chunk({ content: [{ type: 'thinking', thinking: [], closed: true }] }) +
    chunk({
      content: [
        { type: 'text', text: 'Bon' },
        { type: 'reference', reference_ids: [1] },
      ],
    }) +
    chunk({ content: 'jour' }, 'stop') +
    DONE;
  t.same(contentOf(eventsOf(stream)), [
    { type: 'thinking', thinking: 'Hm', signature: '' },
    { type: 'text', text: 'Bonjour' },
  ]);
});

t.test('interleaved tool arguments in a chat stream go to their own calls', async (t) => {
  const part = (index: number, text: string, id?: string) =>
    chunk({ tool_calls: [{ index, id, function: { name: id, arguments: text } }] });
  const stream =
    part(0, '{"x":', 'a') + part(1, '[', 'b') + part(0, '1}') + part(1, ']') + chunk({}, 'tool_calls') + DONE;
  t.match(contentOf(eventsOf(stream)), [
    { id: 'a', json: '{"x":1}' },
    { id: 'b', json: '[]' },
  ]);
});

t.test('complete tool calls without an index become separate calls', async (t) => {
  const call = (name: string) => ({ id: '', function: { name, arguments: '{}' } });
  const events = eventsOf(chunk({ tool_calls: [call('f'), call('g')] }, 'stop') + DONE);
  t.match(contentOf(events), [
    { id: 'call_0', name: 'f', json: '{}' },
    { id: 'call_1', name: 'g', json: '{}' },
  ]);
  t.match(events.at(-2), { delta: { stop_reason: 'tool_use' } });
});

t.test('tool calls under one index, as Ollama sends them, become separate calls', async (t) => {
  const call = (id: string, text: string) =>
    chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: text } }] });
  // Some providers repeat the id, or the name, in each part of a call.
  const stream = call('a', '{"x":1}') + call('b', '{"x":') + call('b', '2}') + chunk({}, 'stop') + DONE;
  t.match(contentOf(eventsOf(stream)), [
    { id: 'a', json: '{"x":1}' },
    { id: 'b', json: '{"x":2}' },
  ]);
});

t.test('a part without index, id and name continues the call before it, as with Gemini', async (t) => {
  const part = (one: JsonObject) => chunk({ tool_calls: [one] });
  const stream =
    part({ id: 'a', function: { name: 'f', arguments: '{"x":' } }) +
    part({ function: { arguments: '1}' } }) +
    part({ id: 'b', function: { name: 'g', arguments: '{}' } }) +
    chunk({}, 'tool_calls') +
    DONE;
  t.match(contentOf(eventsOf(stream)), [
    { id: 'a', name: 'f', json: '{"x":1}' },
    { id: 'b', name: 'g', json: '{}' },
  ]);
});

t.test('an error in the middle of a chat stream becomes an error event, and nothing follows', async (t) => {
  const translator = fromOpenAi();
  const error = 'data: {"error":{"message":"Slow down","type":"rate_limit_error"}}\n\n';
  const out = translator.push(Buffer.from(chunk({ content: 'Half' }) + error + chunk({}, 'stop') + DONE));
  const events = dataOf(Buffer.concat([...out, ...translator.end()]).toString());
  t.same(events.at(-1), { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } });
});

t.test(
  'a message begins with the first chunk that names it, which Azure’s of filter results does not',
  async (t) => {
    const filtered = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{}] };
    const events = eventsOf(
      `data: ${JSON.stringify(filtered)}\n\n${chunk({ role: 'assistant', content: '' })}${chunk({ content: 'Hi' }, 'stop')}${DONE}`,
    );
    t.match(events[0], { type: 'message_start', message: { id: 'chatcmpl-1', model: 'gpt-4o-mini' } });
    t.equal(events.filter(({ type }) => type === 'message_start').length, 1);
    t.match(contentOf(events), [{ text: 'Hi' }]);
  },
);

t.test('an error in a chat stream has the type of the status that its provider names', async (t) => {
  for (const [error, type] of [
    [{ code: 429, message: 'Slow' }, 'rate_limit_error'],
    [{ code: '529', message: 'Busy' }, 'overloaded_error'],
    [{ type: 'rate_limit_error', message: 'Slow' }, 'rate_limit_error'],
    [{ type: 'server_error', code: 'x', message: 'No' }, 'api_error'],
  ] as const)
    t.match(eventsOf(`data: ${JSON.stringify({ error })}\n\n`), [{ type: 'error', error: { type } }]);
});

t.test('an empty finish reason, which some servers send in every chunk, ends nothing', async (t) => {
  const call = { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } };
  const stream =
    chunk({ content: 'Well' }, '') + chunk({ tool_calls: [call] }, '') + chunk({}, 'tool_calls') + DONE;
  const events = eventsOf(stream);
  t.match(contentOf(events), [{ text: 'Well' }, { id: 'a', json: '{}' }]);
  t.match(events.at(-2), { type: 'message_delta', delta: { stop_reason: 'tool_use' } });
});

t.test('a finish reason that tells of a failure is an error, and no end follows', async (t) => {
  for (const reason of ['error', 'insufficient_system_resource']) {
    const events = eventsOf(chunk({ content: 'Half' }) + chunk({}, reason) + DONE);
    t.match(events.at(-1), { type: 'error', error: { type: 'api_error', message: reason } });
    t.notOk(events.some(({ type }) => type === 'message_stop'));
  }
});

t.test('a chat stream without [DONE] is complete once it has a finish reason, and not before', async (t) => {
  t.match(eventsOf(chunk({ content: 'Hi' }, 'length')).slice(-2), [
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
    { type: 'message_stop' },
  ]);
  const cut = fromOpenAi();
  cut.push(Buffer.from(chunk({ content: 'Hi' })));
  t.same(cut.end(), []);
  t.notOk(cut.isComplete);
});

t.test('isMessageStopFrame accepts only an event of the type message_stop', async (t) => {
  for (const yes of [
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    'event: message_stop\r\ndata: {"type": "message_stop" }\r\n\r\n',
    'data:{"type":"message_stop"}',
  ])
    t.ok(isMessageStopFrame(Buffer.from(yes)), yes);
  for (const no of [
    'event: ping\ndata: {"type": "ping"}\n\n',
    ': {"type":"message_stop"}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"{\\"type\\":\\"message_stop\\"}"}}\n\n',
    'data: {"delta":{"type":"message_stop"}}\n\n',
  ])
    t.notOk(isMessageStopFrame(Buffer.from(no)), no);
});

t.test('long arguments that alternate with text are whole in the end, each in its block', async (t) => {
  const tool = (part: string) => ({ tool_calls: [{ index: 0, function: { arguments: part } }] });
  const first = {
    tool_calls: [{ index: 0, id: 'call', function: { name: 'write', arguments: '{"text":"' } }],
  };
  const parts = Array.from({ length: 40 }, () => chunk(tool('x'.repeat(1_000))) + chunk({ content: 'y' }));
  const events = eventsOf(chunk(first) + parts.join('') + chunk(tool('"}')) + chunk({}, 'tool_calls') + DONE);
  const [call, ...texts] = contentOf(events);
  t.match(call, { type: 'tool_use', json: `{"text":"${'x'.repeat(40_000)}"}` });
  t.equal(texts.map(({ text }) => text).join(''), 'y'.repeat(40));
});

t.test(
  'arguments that are an object, as Hugging Face’s server sends them, are the input of the tool',
  async (t) => {
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: { city: 'Zürich' } } };
    t.same(contentOf(eventsOf(chunk({ tool_calls: [call] }) + chunk({}, 'tool_calls') + DONE)), [
      { type: 'tool_use', id: 'a', name: 'f', input: {}, json: '{"city":"Zürich"}' },
    ]);
  },
);

t.test('a whole completion in the one chunk of a chat stream is the message', async (t) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
  t.same(contentOf(eventsOf(`data: ${JSON.stringify({ id: 'c', choices })}\n\n${DONE}`)), [
    { type: 'text', text: 'Hello' },
  ]);
});

t.test(
  'a chunk that repeats the whole answer after its deltas, as MiniMax ends streams, adds nothing',
  async (t) => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { role: 'assistant', content: 'Hello', tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const whole = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion', choices })}\n\n`;
    const deltas = [{ content: 'Hel' }, { content: 'lo' }, { tool_calls: [{ index: 0, ...call }] }];
    for (const ended of ['', chunk({}, 'tool_calls')]) {
      const events = eventsOf(deltas.map((delta) => chunk(delta)).join('') + ended + whole + DONE);
      t.same(contentOf(events), [
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'a', name: 'f', input: {}, json: '{}' },
      ]);
      t.match(events.at(-2), { delta: { stop_reason: 'tool_use' } });
    }
  },
);

t.test(
  'an event without data, which some servers send while they wait, is left out of a chat stream',
  async (t) => {
    const stream = `data:\n\ndata: \n\n${chunk({ content: 'Hi' })}data:\n\n${chunk({}, 'stop')}${DONE}`;
    const events = eventsOf(stream);
    t.same(contentOf(events), [{ type: 'text', text: 'Hi' }]);
    t.match(events.at(-1), { type: 'message_stop' });
  },
);
