/** Messages of Anthropic's and the streams that tell them. */
import fc from 'fast-check';
import type { JsonObject } from '#core/json/mod.ts';
import { jsonPieces, pieces, type Told, typed } from './streams.ts';

/** A block, and the events that tell it: `index` is put in later. */
type ToldBlock = { block: JsonObject; events: JsonObject[] };

const start = (block: JsonObject) => ({ type: 'content_block_start', content_block: block });
const delta = (of: JsonObject) => ({ type: 'content_block_delta', delta: of });

const citation = fc.record({
  type: fc.constant('char_location'),
  cited_text: fc.string(),
  document_index: fc.nat(9),
});

const textBlock = fc
  .tuple(pieces, fc.array(citation, { maxLength: 3 }))
  .map(([{ text, deltas }, citations]) => ({
    block: { type: 'text', text, ...(citations.length > 0 ? { citations } : {}) },
    events: [
      start({ type: 'text', text: '' }),
      ...deltas.map((piece) => delta({ type: 'text_delta', text: piece })),
      ...citations.map((one) => delta({ type: 'citations_delta', citation: one })),
    ],
  }));

const thinkingBlock = fc.tuple(pieces, fc.base64String()).map(([{ text, deltas }, signature]) => ({
  block: { type: 'thinking', thinking: text, signature },
  events: [
    start({ type: 'thinking', thinking: '', signature: '' }),
    ...deltas.map((piece) => delta({ type: 'thinking_delta', thinking: piece })),
    delta({ type: 'signature_delta', signature }),
  ],
}));

const toolBlock = fc
  .tuple(fc.constantFrom('tool_use', 'server_tool_use', 'mcp_tool_use'), jsonPieces, fc.boolean())
  .map(([type, { text, deltas }, isFirstEmpty]) => ({
    block: { type, id: 'toolu_1', name: 'f', input: JSON.parse(text) as unknown },
    events: [
      start({ type, id: 'toolu_1', name: 'f', input: {} }),
      ...(isFirstEmpty ? [''] : [])
        .concat(deltas)
        .map((piece) => delta({ type: 'input_json_delta', partial_json: piece })),
    ],
  }));

/** Blocks that come whole as they begin. */
const wholeBlock = fc
  .constantFrom<JsonObject>(
    { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3p' },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [
        { type: 'web_search_result', title: 'Weather', url: 'https://example.com', encrypted_content: 'Eo' },
      ],
    },
    { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
  )
  .map((block) => ({ block, events: [start(block)] }));

/** A summary comes in one piece. */
const compactionBlock = fc.string({ minLength: 1 }).map((content) => ({
  block: { type: 'compaction', content },
  events: [start({ type: 'compaction', content: null }), delta({ type: 'compaction_delta', content })],
}));

const block: fc.Arbitrary<ToldBlock> = fc.oneof(
  textBlock,
  thinkingBlock,
  toolBlock,
  wholeBlock,
  compactionBlock,
);

const HEAD = {
  id: 'msg_014p7gG3wDgGV9EUtLvnow3U',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
};
const USAGE = {
  input_tokens: 472,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 20,
  cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
  service_tier: 'standard',
};

/** A message and the events of its stream. */
export const message = fc
  .tuple(
    fc.array(block, { maxLength: 5 }),
    fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'refusal'),
    fc.nat(9_999),
  )
  .map(([blocks, stopReason, outputTokens]) => {
    const stop = { stop_reason: stopReason, stop_sequence: null };
    return {
      answer: {
        ...HEAD,
        content: blocks.map((told) => told.block),
        ...stop,
        usage: { ...USAGE, output_tokens: outputTokens },
      },
      events: [
        {
          type: 'message_start',
          message: {
            ...HEAD,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { ...USAGE, output_tokens: 2 },
          },
        },
        { type: 'ping' },
        ...blocks.flatMap(({ events }, index) =>
          [...events, { type: 'content_block_stop' }].map((told) => ({ index, ...told })),
        ),
        { type: 'message_delta', delta: stop, usage: { output_tokens: outputTokens } },
        { type: 'message_stop' },
      ].map((data): Told => typed(data)),
    };
  });
