import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { readMessage, writeCompletion } from '../../../../../gateway/dialects/mod.ts';
import { isNote } from '../../../../../gateway/response/sse-splitter.ts';
import {
  blockStart,
  blockStop,
  CREATED,
  dataOf,
  delta,
  event,
  fixture,
  fromAnthropic,
  messageEnd,
  messageStart,
  translateCut,
} from '../streams.ts';

function chunksOf(stream: string | Buffer): JsonObject[] {
  const data = dataOf(translateCut(fromAnthropic, Buffer.from(stream), []));
  return data.filter((one) => one !== '[DONE]');
}

function assembled(stream: string | Buffer): JsonObject {
  return assembleStream(translateCut(fromAnthropic, Buffer.from(stream), [])).completion;
}

type Call = { index: number; id?: string; function: { name?: string; arguments?: string } };

function deltasOf(chunks: JsonObject[]): JsonObject[] {
  return chunks.flatMap((chunk) => (chunk.choices as { delta: JsonObject }[]).map((choice) => choice.delta));
}

t.test(
  'a Messages stream with thinking, text and two tools assembles to the completion of the same message',
  async (t) => {
    const chunks = chunksOf(fixture('tool-use.anthropic'));
    const deltas = deltasOf(chunks);
    t.same(deltas[0], { role: 'assistant', content: null });
    t.equal(deltas.filter((one) => 'role' in one).length, 1, 'the role comes once');
    const calls = deltas.flatMap((one) => (one.tool_calls ?? []) as Call[]);
    t.same([...new Set(calls.map((call) => call.index))], [0, 1], 'calls are counted from 0');
    const streamed = assembled(fixture('tool-use.anthropic'));
    const thinking = 'They ask for the weather, twice.';
    const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds';
    const message = {
      id: 'msg_014p7gG3wDgGV9EUtLvnow3U',
      model: 'claude-sonnet-4-5-20250929',
      content: [
        { type: 'thinking', thinking, signature },
        { type: 'text', text: 'Okay, I "check" Zürich é 🌦\n' },
        { type: 'tool_use', id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', name: 'get_weather', input: {} },
        { type: 'tool_use', id: 'toolu_02', name: 'now', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 472,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 20,
        output_tokens: 89,
        output_tokens_details: { thinking_tokens: 12 },
      },
    };
    const plain = writeCompletion(readMessage(message), CREATED) as { choices: JsonObject[] };
    const [choice] = plain.choices as [{ message: { tool_calls: Call[] } & JsonObject } & JsonObject];
    // The provider's spacing of arguments is kept in a stream.
    choice.message.tool_calls[0]!.function.arguments = '{"location": "Zürich", "id": 12345678901234567890}';
    choice.message.refusal = undefined;
    delete choice.message.refusal;
    delete choice.logprobs;
    t.same(streamed, plain);
  },
);

t.test(
  'the documented Anthropic stream ends with its usage and [DONE], each alone in its buffer',
  async (t) => {
    const translator = fromAnthropic();
    const frames = translator.push(fixture('text.anthropic')).map(String);
    t.equal(frames.at(-1), 'data: [DONE]\n\n');
    t.same((dataOf(frames.at(-2)!)[0] as JsonObject).choices, []);
    t.same((dataOf(frames.at(-2)!)[0] as JsonObject).usage, {
      prompt_tokens: 25,
      completion_tokens: 15,
      total_tokens: 40,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    });
    t.ok(translator.isComplete);
    t.same(translator.push(fixture('text.anthropic')), [], 'what follows the end is nobody’s');
  },
);

t.test(
  'a translated stream has the role first and once, before a tool call, after a ping, without message_start',
  async (t) => {
    const tool = blockStart(0, { type: 'tool_use', id: 'a', name: 'f', input: {} });
    for (const start of [messageStart(), event({ type: 'ping' }) + messageStart(), '']) {
      const deltas = deltasOf(chunksOf(start + tool + blockStop(0) + messageEnd('tool_use')));
      t.equal(deltas[0]?.role, 'assistant');
      t.equal(deltas.filter((one) => 'role' in one).length, 1);
    }
  },
);

t.test('interleaved input deltas of a Messages stream go to the call of their block', async (t) => {
  const use = (index: number, id: string) => blockStart(index, { type: 'tool_use', id, name: id, input: {} });
  const json = (index: number, partial_json: string) =>
    delta(index, { type: 'input_json_delta', partial_json });
  const stream =
    messageStart() +
    use(2, 'a') +
    json(2, '{"x":') +
    use(5, 'b') +
    json(5, '[') +
    json(2, '1}') +
    json(5, ']');
  const completion = assembled(stream + blockStop(2) + blockStop(5) + messageEnd('tool_use'));
  const [{ message }] = completion.choices as [{ message: { tool_calls: Call[] } }];
  t.same(
    message.tool_calls.map((call) => [call.id, call.function.arguments]),
    [
      ['a', '{"x":1}'],
      ['b', '[]'],
    ],
  );
});

t.test(
  'a streamed tool call has {} as arguments when it has none, or the input of its block start',
  async (t) => {
    for (const [input, partial, expected] of [
      [{}, '', '{}'],
      [{}, null, '{}'],
      [{ a: 1 }, null, '{"a":1}'],
    ] as const) {
      const deltas = partial === null ? '' : delta(0, { type: 'input_json_delta', partial_json: partial });
      const stream = messageStart() + blockStart(0, { type: 'tool_use', id: 'a', name: 'f', input }) + deltas;
      const completion = assembled(stream + blockStop(0) + messageEnd('tool_use'));
      const [{ message }] = completion.choices as [{ message: { tool_calls: Call[] } }];
      t.equal(message.tool_calls[0]?.function.arguments, expected);
    }
  },
);

t.test(
  'every stop reason in a stream becomes its finish reason, and keeps its own name beside it',
  async (t) => {
    for (const [reason, finish] of [
      ['end_turn', 'stop'],
      ['stop_sequence', 'stop'],
      ['pause_turn', 'stop'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['refusal', 'content_filter'],
      ['something_new', 'stop'],
      [null, 'stop'],
    ] as const) {
      const [choice] = assembled(messageStart() + messageEnd(reason)).choices as [JsonObject];
      t.equal(choice.finish_reason, finish, String(reason));
      t.equal(choice.native_finish_reason ?? null, reason);
    }
  },
);

t.test(
  'token counts of a Messages stream are cumulative: later ones replace, missing ones change nothing',
  async (t) => {
    const usageOf = (start: JsonObject, ...changes: JsonObject[]): JsonObject => {
      const middle = changes.map((usage) => event({ type: 'message_delta', delta: {}, usage })).join('');
      const end =
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) +
        event({ type: 'message_stop' });
      return assembled(messageStart(start) + middle + end).usage as JsonObject;
    };
    const all = { input_tokens: 9, cache_read_input_tokens: 5, cache_creation_input_tokens: 2 };
    const last = {
      input_tokens: 9,
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 0,
      output_tokens: 16,
    };
    t.match(usageOf(all, last), {
      prompt_tokens: 10,
      completion_tokens: 16,
      total_tokens: 26,
      prompt_tokens_details: { cached_tokens: 1 },
    });
    t.match(usageOf({ input_tokens: 10 }, { cache_read_input_tokens: 3 }), { prompt_tokens: 13 });
    t.match(usageOf({ input_tokens: 10 }, { output_tokens: 7 }, { input_tokens: null }), {
      prompt_tokens: 10,
      completion_tokens: 7,
    });
  },
);

t.test(
  'an error in a Messages stream follows the received text, without a finish reason or [DONE]',
  async (t) => {
    const translator = fromAnthropic();
    const stream = Buffer.concat([fixture('overloaded.anthropic'), Buffer.from(messageEnd('end_turn'))]);
    const out = Buffer.concat([...translator.push(stream), ...translator.end()]).toString();
    const data = dataOf(out);
    t.match(data[2], { choices: [{ delta: { content: 'Half of' } }] });
    t.same(data.at(-1), {
      error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null },
    });
    t.notMatch(out, /"finish_reason":"|\[DONE\]/);
    t.notOk(translator.isComplete);
  },
);

t.test(
  'the prompt tokens of a Messages stream are noted for the log at its start, not shown to clients',
  async (t) => {
    const usage = {
      input_tokens: 25,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 3,
      output_tokens: 1,
    };
    const stream = translateCut(fromAnthropic, Buffer.from(messageStart(usage)), []);
    const notes = stream.split('\n\n').filter((frame) => isNote(Buffer.from(frame)));
    t.equal(notes.length, 1);
    t.match(dataOf(notes[0]!), [{ id: 'msg_1', choices: [] }]);
    t.same((dataOf(notes[0]!)[0] as JsonObject).usage, {
      prompt_tokens: 68,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 3 },
    });
    t.notOk(isNote(Buffer.from('event: assistant\ndata: {}\n\n')));
  },
);

t.test('an event over the size limit ends a Messages stream after the events before it', async (t) => {
  const text = blockStart(0, { type: 'text', text: '' }) + delta(0, { type: 'text_delta', text: 'said' });
  const translator = fromAnthropic(1_000);
  const out = translator.push(Buffer.from(`${messageStart() + text}data: ${'x'.repeat(2_000)}`));
  t.match(dataOf(Buffer.concat(out).toString()).at(-1), { choices: [{ delta: { content: 'said' } }] });
  t.equal(translator.isOverrun, true);
  t.same(translator.push(Buffer.from(`\n\n${messageEnd('end_turn')}`)), []);
  t.equal(translator.isComplete, false);
});

t.test('an event that is not JSON becomes a provider error, and a cut last event is ignored', async (t) => {
  const broken = fromAnthropic();
  const out = broken.push(
    Buffer.from(`${messageStart()}event: content_block_delta\ndata: {"type":"content_bl\n\n`),
  );
  t.match(dataOf(Buffer.concat(out).toString()).at(-1), { error: { type: 'api_error' } });
  const torn = fromAnthropic();
  torn.push(Buffer.from(messageStart()));
  t.same(torn.push(Buffer.from('event: content_block_delta\ndata: {"type":"content_bl')), []);
  t.same(torn.end(), []);
  t.notOk(torn.isComplete, 'nor is it an end');
});

t.test('a Messages stream without its last event is complete once it has a stop reason', async (t) => {
  const end = event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 2 },
  });
  const translator = fromAnthropic();
  translator.push(Buffer.from(messageStart() + end));
  t.notOk(translator.isComplete);
  t.equal(String(translator.end().at(-1)), 'data: [DONE]\n\n');
  t.ok(translator.isComplete);
});

t.test('a thinking delta in a text block is ignored, and redacted thinking is kept unchanged', async (t) => {
  const redacted = { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' };
  const stream =
    messageStart() +
    blockStart(0, redacted) +
    blockStop(0) +
    blockStart(1, { type: 'text', text: '' }) +
    delta(1, { type: 'thinking_delta', thinking: 'lost' }) +
    delta(1, { type: 'text_delta', text: 'said' }) +
    blockStop(1) +
    messageEnd('end_turn');
  const [{ message }] = assembled(stream).choices as [{ message: JsonObject }];
  t.same(message.thinking_blocks, [redacted]);
  t.equal(message.content, 'said');
  t.notOk('reasoning_content' in message);
});

t.test('a translated stream has all thinking blocks in one list, which clients put together', async (t) => {
  const blocks = [
    { type: 'thinking', thinking: 'First.', signature: 'sigA' },
    { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
    { type: 'thinking', thinking: 'Second.', signature: 'sigB' },
  ];
  const frames = blocks.map((block, index) =>
    block.type === 'thinking'
      ? blockStart(index, { type: 'thinking', thinking: '', signature: '' }) +
        delta(index, { type: 'thinking_delta', thinking: block.thinking }) +
        delta(index, { type: 'signature_delta', signature: block.signature })
      : blockStart(index, block),
  );
  const stopped = frames.map((frame, index) => frame + blockStop(index)).join('');
  const deltas = deltasOf(chunksOf(messageStart() + stopped + messageEnd('end_turn')));
  t.same(
    deltas.flatMap((one) => ('thinking_blocks' in one ? [one.thinking_blocks] : [])),
    [blocks],
  );
});

t.test('a delta for a block that has stopped or never started is ignored', async (t) => {
  const late = delta(0, { type: 'text_delta', text: 'late' });
  const text = blockStart(0, { type: 'text', text: '' }) + delta(0, { type: 'text_delta', text: 'said' });
  const stream = messageStart() + late + text + blockStop(0) + late + messageEnd('end_turn');
  const [{ message }] = assembled(stream).choices as [{ message: JsonObject }];
  t.equal(message.content, 'said');
});

t.test('JSON streamed by way of a tool becomes content with the finish reason stop', async (t) => {
  const stream =
    messageStart() +
    blockStart(0, { type: 'tool_use', id: 'a', name: 'answer_in_json', input: {} }) +
    delta(0, { type: 'input_json_delta', partial_json: '{"a":' }) +
    delta(0, { type: 'input_json_delta', partial_json: '1}' }) +
    blockStop(0) +
    messageEnd('tool_use');
  const [choice] = assembled(stream).choices as [{ message: JsonObject } & JsonObject];
  t.equal(choice.message.content, '{"a":1}');
  t.equal(choice.finish_reason, 'stop');
  t.notOk('tool_calls' in choice.message);
});

t.test('a name of megabytes that a provider sends is not repeated in each chunk', async (t) => {
  const start = messageStart().replaceAll(/"model":"[^"]*"/g, `"model":"${'m'.repeat(1_000_000)}"`);
  const text =
    blockStart(0, { type: 'text', text: '' }) + delta(0, { type: 'text_delta', text: 'Hi' }).repeat(50);
  const out = translateCut(
    fromAnthropic,
    Buffer.from(start + text + blockStop(0) + messageEnd('end_turn')),
    [],
  );
  t.ok(out.length < 50_000, `${out.length} bytes`);
  t.match(chunksOf(start + text)[0], { model: 'm'.repeat(256) });
});
