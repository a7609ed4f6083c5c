/** Answers of OpenAI's Responses and the streams that tell them. */
import fc from 'fast-check';
import type { JsonObject } from '#core/json/mod.ts';
import { interleave, jsonPieces, pieces, type Told, typed } from './streams.ts';

/** An item, how it begins, and the events between: those of `done` repeat what the others have told. */
type ToldItem = { item: JsonObject; begun: JsonObject; events: JsonObject[] };

const outputText = fc.tuple(pieces, fc.boolean()).map(([{ text, deltas }, isCited]) => {
  const citation = {
    type: 'url_citation',
    url: 'https://example.com',
    title: 'x',
    start_index: 0,
    end_index: 1,
  };
  const part = { type: 'output_text', text, annotations: isCited ? [citation] : [], logprobs: [] };
  return {
    part,
    events: [
      { type: 'response.content_part.added', part: { ...part, text: '', annotations: [] } },
      ...deltas.map((delta) => ({ type: 'response.output_text.delta', delta, logprobs: [] })),
      ...part.annotations.map((annotation, annotation_index) => ({
        type: 'response.output_text.annotation.added',
        annotation_index,
        annotation,
      })),
      { type: 'response.output_text.done', text, logprobs: [] },
      { type: 'response.content_part.done', part },
    ],
  };
});

const refusal = pieces.map(({ text, deltas }) => {
  const part = { type: 'refusal', refusal: text };
  return {
    part,
    events: [
      { type: 'response.content_part.added', part: { type: 'refusal', refusal: '' } },
      ...deltas.map((delta) => ({ type: 'response.refusal.delta', delta })),
      { type: 'response.refusal.done', refusal: text },
      { type: 'response.content_part.done', part },
    ],
  };
});

const messageItem = fc.array(fc.oneof(outputText, refusal), { maxLength: 3 }).map((parts): ToldItem => {
  const item = { type: 'message', role: 'assistant', content: parts.map(({ part }) => part) };
  return {
    item,
    begun: { ...item, content: [] },
    events: parts.flatMap(({ events }, content_index) => events.map((told) => ({ content_index, ...told }))),
  };
});

const reasoningItem = fc.array(pieces, { maxLength: 3 }).map((summaries): ToldItem => {
  const summary = summaries.map(({ text }) => ({ type: 'summary_text', text }));
  return {
    item: { type: 'reasoning', summary },
    begun: { type: 'reasoning', summary: [] },
    events: summaries.flatMap(({ text, deltas }, summary_index) =>
      [
        { type: 'response.reasoning_summary_part.added', part: { type: 'summary_text', text: '' } },
        ...deltas.map((delta) => ({ type: 'response.reasoning_summary_text.delta', delta })),
        { type: 'response.reasoning_summary_text.done', text },
        { type: 'response.reasoning_summary_part.done', part: { type: 'summary_text', text } },
      ].map((told) => ({ summary_index, ...told })),
    ),
  };
});

const reasoningTextItem = pieces.map(
  ({ text, deltas }): ToldItem => ({
    item: { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] },
    begun: { type: 'reasoning', summary: [], content: [] },
    events: [
      { type: 'response.content_part.added', part: { type: 'reasoning_text', text: '' } },
      ...deltas.map((delta) => ({ type: 'response.reasoning_text.delta', delta })),
      { type: 'response.reasoning_text.done', text },
      { type: 'response.content_part.done', part: { type: 'reasoning_text', text } },
    ].map((told) => ({ content_index: 0, ...told })),
  }),
);

/** Items with one text of their own. */
const CALLS: readonly [type: string, word: string, member: string, rest: JsonObject][] = [
  ['function_call', 'function_call_arguments', 'arguments', { name: 'get_weather' }],
  ['custom_tool_call', 'custom_tool_call_input', 'input', { name: 'write_sql' }],
  ['mcp_call', 'mcp_call_arguments', 'arguments', { name: 'ask', server_label: 'wiki' }],
  ['code_interpreter_call', 'code_interpreter_call_code', 'code', { container_id: 'cntr_1', outputs: [] }],
];

const callItem = fc
  .tuple(fc.constantFrom(...CALLS), jsonPieces)
  .map(([[type, word, member, rest], { text, deltas }]): ToldItem => {
    const item = { type, call_id: '', ...rest, [member]: text };
    return {
      item,
      begun: { ...item, [member]: '' },
      events: [
        ...deltas.map((delta) => ({ type: `response.${word}.delta`, delta, obfuscation: 'H2d0mf8T42i5Ya' })),
        { type: `response.${word}.done`, [member]: text },
      ],
    };
  });

/** Items that come whole. */
const searchItem = fc.constant<ToldItem>({
  item: { type: 'web_search_call', action: { type: 'search', query: 'weather' } },
  begun: { type: 'web_search_call', action: { type: 'search', query: 'weather' } },
  events: [
    { type: 'response.web_search_call.in_progress' },
    { type: 'response.web_search_call.searching' },
    { type: 'response.web_search_call.completed' },
  ],
});

const item: fc.Arbitrary<ToldItem> = fc.oneof(
  messageItem,
  reasoningItem,
  reasoningTextItem,
  callItem,
  searchItem,
);

export const RESPONSE = {
  id: 'resp_67ca8b7d',
  object: 'response',
  created_at: 1_741_294_021,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  instructions: null,
  model: 'gpt-4o-2024-08-06',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  usage: null,
  metadata: {},
};
const USAGE = {
  input_tokens: 36,
  input_tokens_details: { cached_tokens: 12 },
  output_tokens: 87,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 123,
};

/** An item with its own names. */
function named(item: JsonObject, index: number): JsonObject {
  return { id: `item_${index}`, ...item, ...('call_id' in item ? { call_id: `call_${index}` } : {}) };
}

function eventsOf({ item: of, begun, events }: ToldItem, output_index: number): JsonObject[] {
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...named(begun, output_index), status: 'in_progress' },
    },
    ...events.map((told) => ({ output_index, item_id: `item_${output_index}`, ...told })),
    {
      type: 'response.output_item.done',
      output_index,
      item: { ...named(of, output_index), status: 'completed' },
    },
  ];
}

/** A response and the events of its stream; `interleaved` says whose item's turn it is, [] one item after the other. */
export function response(interleaved: fc.Arbitrary<number[]>) {
  return fc
    .tuple(fc.array(item, { maxLength: 4 }), interleaved, fc.constantFrom('completed', 'incomplete'))
    .map(([items, choices, status]) => {
      const output = items.map((told, index) => ({ ...named(told.item, index), status: 'completed' }));
      const answer = { ...RESPONSE, status, output, usage: USAGE };
      const events: JsonObject[] = [
        { type: 'response.created', response: RESPONSE },
        { type: 'response.in_progress', response: RESPONSE },
        ...interleave(items.map(eventsOf), choices),
        { type: `response.${status}`, response: answer },
      ];
      return {
        answer,
        events: events.map((data, sequence_number): Told => typed({ ...data, sequence_number })),
      };
    });
}
