/** What no stream may cost, however it is made. */
import { ok } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const MIB = 1024 * 1024;
const STREAM_BYTES = 8 * MIB;
/** Ten times what it takes beside other tests; were it quadratic, it would take most of a minute or more. */
const MAX_MS = 5_000;

const told = (data: JsonObject) => `data: ${JSON.stringify(data)}\n\n`;

/** As much of one event as fits. */
function streamOf(event: JsonObject): string {
  const one = told(event);
  return one.repeat(Math.floor(STREAM_BYTES / one.length));
}

const chat = (delta: JsonObject, more: JsonObject = {}) => ({ choices: [{ index: 0, delta, ...more }] });
const block = (delta: JsonObject) => ({ type: 'content_block_delta', index: 0, delta });
const part = (type: string, more: JsonObject) => ({ type, output_index: 0, content_index: 0, ...more });

/** Everything that grows, a little at a time. */
const GROWING: Record<string, JsonObject> = {
  'a chat’s text': chat({ content: 'x' }),
  'a chat’s log probabilities': chat({}, { logprobs: { content: [{ token: 'x' }] } }),
  'a chat’s tool calls without an index': chat({ tool_calls: [{ id: 'x' }] }),
  'a chat’s tool call that goes on without an index': chat({
    tool_calls: [{ function: { arguments: 'x' } }],
  }),
  'a chat’s content in parts': chat({
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'x' }] },
      { type: 'text', text: 'x' },
    ],
  }),
  'a completion’s text and log probabilities': {
    choices: [{ index: 0, text: 'x', logprobs: { tokens: ['x'] } }],
  },
  'a message’s text': block({ type: 'text_delta', text: 'x' }),
  'a message’s citations': block({ type: 'citations_delta', citation: {} }),
  'a response’s text and log probabilities': part('response.output_text.delta', {
    delta: 'x',
    logprobs: [1],
  }),
  'items of a response': { type: 'response.output_item.added', output_index: 0, item: {} },
  'events of no dialect': {},
};

for (const [what, event] of Object.entries(GROWING)) {
  t.test(`a stream of 8 MiB of ${what} is assembled within 5 s, in proportion to its length`, async (t) => {
    const text = streamOf(event);
    const startedAt = performance.now();
    const { completion } = assembleStream(text);
    // The texts are flat only once they are read.
    const { length } = JSON.stringify(completion);
    const tookMs = performance.now() - startedAt;
    t.ok(tookMs < MAX_MS, `${Math.round(tookMs)} ms`);
    t.ok(length < 2 * STREAM_BYTES, 'and make no more than came');
  });
}

t.test('one huge event, millions of lines and deep nesting take time in proportion', async (t) => {
  const texts = [
    `data: ${JSON.stringify(block({ type: 'text_delta', text: 'x'.repeat(STREAM_BYTES) }))}\n\n`,
    'data: x\n'.repeat(STREAM_BYTES / 8),
    '\n'.repeat(STREAM_BYTES),
    `data: ${'['.repeat(MIB)}`,
  ];
  for (const text of texts) {
    const startedAt = performance.now();
    assembleStream(text);
    const tookMs = performance.now() - startedAt;
    t.ok(tookMs < MAX_MS, `${Math.round(tookMs)} ms`);
  }
});

t.test('huge, negative and broken indexes make one value each', async (t) => {
  const index = fc.constantFrom(0, 999, 1e9, 2 ** 53, 1e300, -1, 0.5, null, 'x', {});
  const made = fc.oneof(
    index.map((at) => ({ choices: [{ index: at, delta: { tool_calls: [{ index: at, id: 'x' }] } }] })),
    index.map((at) => ({ choices: [{ index: at, text: 'x' }] })),
    index.map((at) => ({ type: 'content_block_start', index: at, content_block: { type: 'text' } })),
    index.map((at) => ({ ...block({ type: 'text_delta', text: 'x' }), index: at })),
    fc.tuple(index, index).map(([output_index, content_index]) => ({
      ...part('response.output_text.delta', { delta: 'x' }),
      output_index,
      content_index,
    })),
  );
  fc.assert(
    fc.property(fc.array(made, { minLength: 1, maxLength: 20 }), (events) => {
      const text = events.map(told).join('');
      ok(JSON.stringify(assembleStream(text).completion).length < 5 * text.length + 100);
    }),
    runs(t, 500),
  );
});

t.test('an error event that holds the answer does not make the answer part of itself', async (t) => {
  const response = { id: 'resp_1', output: [] };
  const { completion } = assembleStream(
    `${told({ type: 'response.created', response: {} })}event: error\n${told({ response })}`,
  );
  t.equal(JSON.stringify(completion), JSON.stringify({ ...response, error: { response } }));
});

/** Values where objects are expected, objects where texts are, and names that objects inherit. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, 0, '', 'x', [], {}, [null], true, { ['__proto__']: { text: 'x' } }),
  fc.json({ maxDepth: 2 }).map((json): unknown => JSON.parse(json)),
);
const NAMES = [
  'type index output_index content_index summary_index command_index item_id item part delta text refusal logprobs',
  'annotation message content_block response output choices error usage content stop_reason tool_calls function',
  'arguments partial_json citation thinking signature input commands action operation object id __proto__ constructor',
].flatMap((line) => line.split(' '));
const TYPES = [
  'message_start content_block_start content_block_delta content_block_stop message_delta message_stop error ping',
  'response.created response.output_item.added response.output_item.done response.content_part.added',
  'response.content_part.done response.output_text.delta response.output_text.done response.refusal.delta',
  'response.output_text.annotation.added response.function_call_arguments.delta response.reasoning_summary_text.delta',
  'response.shell_call_command.added response.apply_patch_call_operation_diff.delta response.completed response.failed',
  'response. response.x.delta text_delta input_json_delta citations_delta compaction_delta',
].flatMap((line) => line.split(' '));

t.test('malformed events are ignored', async (t) => {
  const { object } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, odd, tie('object'), fc.array(tie('object'), { maxLength: 2 })),
    object: fc
      .tuple(
        fc.option(fc.constantFrom(...TYPES), { nil: undefined }),
        fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 5 }),
      )
      .map(([type, members]) => (type === undefined ? members : { ...members, type })),
  }));
  fc.assert(
    fc.property(fc.array(object, { maxLength: 8 }), fc.constantFrom('', 'event: error\n'), (events, name) => {
      const text = events.map((event) => `${name}data: ${JSON.stringify(event)}\n\n`).join('');
      const { completion, complete } = assembleStream(text);
      ok(typeof complete === 'boolean' && JSON.stringify(completion).startsWith('{'));
    }),
    runs(t, 1_000),
  );
  t.equal(({} as { text?: string }).text, undefined, 'and leave nothing behind');
});
