import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream, readUsage } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { message } from '../../../support/chat/messages-stream.ts';
import { framing, reframe, sameJson, sse, typed } from '../../../support/chat/streams.ts';

const FIXTURES = new URL('../../../support/fixtures/gateway/streams/', import.meta.url);
const fixture = (name: string) => readFileSync(new URL(name, FIXTURES), 'utf8');

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};
const block = (content_block: JsonObject, index = 0) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (of: JsonObject, index = 0) => ({ type: 'content_block_delta', index, delta: of });

const assemble = (...events: JsonObject[]) => assembleStream(sse(events.map(typed)));
const contentOf = (...events: JsonObject[]) => assemble(START, ...events).completion.content as JsonObject[];

t.test('a message cut into deltas anywhere is assembled', async () => {
  fc.assert(
    fc.property(message, framing, ({ answer, events }, frame) => {
      const { completion, complete, dialect } = assembleStream(reframe(sse(events), frame));
      sameJson(completion, answer);
      sameJson([complete, dialect], [true, 'messages']);
    }),
    { numRuns: 500 },
  );
});

t.test('a recorded message with thinking, text and two tool calls is assembled', async (t) => {
  const { completion, complete } = assembleStream(fixture('tool-use.anthropic.sse'));
  t.equal(complete, true);
  t.match(completion, {
    id: 'msg_014p7gG3wDgGV9EUtLvnow3U',
    stop_reason: 'tool_use',
    content: [
      {
        type: 'thinking',
        thinking: 'They ask for the weather, twice.',
        signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds',
      },
      { type: 'text', text: 'Okay, I "check" Zürich é 🌦\n' },
      { type: 'tool_use', id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', name: 'get_weather' },
      { type: 'tool_use', id: 'toolu_02', name: 'now', input: {} },
    ],
  });
  t.match(readUsage(completion), {
    promptTokens: 592,
    completionTokens: 89,
    cachedTokens: 20,
    cacheWriteTokens: 100,
    reasoningTokens: 12,
  });
  t.ok(
    JSON.stringify(completion).includes('"input":{"location":"Zürich","id":12345678901234567890}'),
    'an id of 64 bits keeps its digits',
  );
});

t.test('a later token count replaces an earlier one, and a missing one leaves it', async (t) => {
  const counted = (start: JsonObject, ...deltas: (JsonObject | undefined)[]) => {
    const { completion } = assemble(
      { ...START, message: { ...START.message, usage: start } },
      ...deltas.map((usage) => ({ type: 'message_delta', delta: {}, usage })),
    );
    const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = readUsage(completion)!;
    return [promptTokens, cachedTokens, cacheWriteTokens, completionTokens];
  };
  const start = {
    input_tokens: 9,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 2,
    output_tokens: 1,
  };
  const corrected = {
    input_tokens: 9,
    cache_read_input_tokens: 1,
    cache_creation_input_tokens: 0,
    output_tokens: 16,
  };
  t.strictSame(counted(start, corrected), [10, 1, 0, 16]);
  t.strictSame(
    counted({ input_tokens: 10 }, { cache_read_input_tokens: 3, output_tokens: 4 }),
    [13, 3, 0, 4],
  );
  t.strictSame(counted({ input_tokens: 10 }, { output_tokens: 4 }, undefined), [10, 0, 0, 4]);
  const nothing = { input_tokens: null, cache_read_input_tokens: null, output_tokens: 4 };
  t.strictSame(counted(start, nothing), [16, 5, 2, 4]);
  t.strictSame(counted({}, { input_tokens: 61, output_tokens: 2 }), [61, 0, 0, 2]);
});

t.test('the tokens cached for an hour are at most the tokens written to the cache', async (t) => {
  const { completion } = assemble(
    {
      ...START,
      message: {
        ...START.message,
        usage: {
          input_tokens: 9,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        },
      },
    },
    { type: 'message_delta', delta: {}, usage: { cache_creation_input_tokens: 5, output_tokens: 3 } },
  );
  t.match(readUsage(completion), { cacheWriteTokens: 5, cacheWriteHourTokens: 5 });
});

t.test('a delta is merged into the block with its index, and ignored if of another kind', async () => {
  const content = contentOf(
    block({ type: 'text', text: '' }, 0),
    block({ type: 'thinking', thinking: '' }, 1),
    delta({ type: 'thinking_delta', thinking: 'B' }, 1),
    delta({ type: 'text_delta', text: 'A' }, 0),
    delta({ type: 'thinking_delta', thinking: 'misplaced' }, 0),
    delta({ type: 'input_json_delta', partial_json: '{}' }, 0),
    delta({ type: 'unheard_of_delta', text: 'x' }, 0),
    delta({ type: 'text_delta', text: 'a' }, 0),
  );
  sameJson(content, [
    { type: 'text', text: 'Aa' },
    { type: 'thinking', thinking: 'B' },
  ]);
});

t.test('a block without a start is made by its deltas, and one started twice becomes two', async () => {
  sameJson(
    contentOf(delta({ type: 'text_delta', text: 'Hi' }, 2), delta({ type: 'text_delta', text: '!' }, 2)),
    [{ type: 'text', text: 'Hi!' }],
  );
  const begin = block({ type: 'text', text: '' });
  const say = (text: string) => delta({ type: 'text_delta', text });
  sameJson(contentOf(begin, say('a'), begin, say('b')), [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]);
  sameJson(assemble(say('Hi')).completion, {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
  });
});

t.test('events may have their type in the event field alone', async () => {
  const text = sse(
    [START, block({ type: 'text', text: 'Hi' }), { type: 'message_stop' }].map(({ type, ...data }) => ({
      name: type,
      data,
    })),
  );
  sameJson(assembleStream(text), {
    completion: { ...START.message, content: [{ type: 'text', text: 'Hi' }] },
    complete: true,
    dialect: 'messages',
  });
});

t.test('a continued turn begins with content and a stop reason', async (t) => {
  const content = [
    { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: { return_code: 0 } },
    { type: 'tool_use', id: 'toolu_2', name: 'f', input: { id: 1 } },
  ];
  const start = { ...START, message: { ...START.message, content, stop_reason: 'tool_use' } };
  const { completion, complete } = assemble(start);
  t.equal(complete, true);
  sameJson(completion, start.message);
});

t.test('a message that starts twice is one message', async (t) => {
  const { completion } = assemble(START, START, block({ type: 'text', text: 'ok' }));
  t.match(completion, { id: 'msg_1', content: [{ text: 'ok' }] });
});

t.test('an answer that another model continues names that model', async (t) => {
  const { completion } = assemble(
    START,
    block({ type: 'fallback', from: { model: 'claude-opus-5-5' }, to: { model: 'claude-opus-4-8' } }),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', container: { id: 'c' } },
      context_management: {},
    },
  );
  t.match(completion, { model: 'claude-opus-4-8', container: { id: 'c' }, context_management: {} });
});

t.test('a message is complete once its stop reason is known', async (t) => {
  const stop = (stop_reason: string | null) => ({ type: 'message_delta', delta: { stop_reason } });
  t.equal(assemble(START).complete, false);
  t.equal(assemble(START, stop(null)).complete, false);
  t.equal(assemble(START, stop('end_turn')).complete, true);
  t.equal(assemble(START, { type: 'message_stop' }).complete, true);
  t.equal(
    assembleStream(`${sse([typed(START)])}data: [DONE]\n\n`).complete,
    false,
    'that is another dialect’s end',
  );
});

t.test('an error is kept with the part of the message received before', async (t) => {
  const { completion, complete } = assembleStream(fixture('overloaded.anthropic.sse'));
  t.equal(complete, false);
  t.match(completion, {
    id: 'msg_01',
    content: [{ type: 'text', text: 'Half of' }],
    error: { type: 'overloaded_error', message: 'Overloaded' },
  });
  t.match(readUsage(completion), { promptTokens: 25, completionTokens: 1 });
});
