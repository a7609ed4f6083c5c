/** What providers tell in a stream, dialect by dialect: events that are not written yet. */
import fc from 'fast-check';
import type { JsonObject } from '#core/json/mod.ts';

export type Told = {
  /** Its `event:` field; null where the dialect has none. */
  name: string | null;
  data: JsonObject | '[DONE]';
  /** Nothing but usage, which a client that did not ask for it must not see. */
  isUsage?: boolean;
  /** With it the answer is whole. */
  isFinish?: boolean;
  /** What clients wait for, and the gateway holds back until the record is committed. */
  isLast?: boolean;
};

/** What is said in a stream. */
export type Said = {
  texts: string[];
  /** The arguments of a tool call in their pieces; null: none is called. */
  call: string[] | null;
  /** Providers leave things out: why the answer ended, what it used, the last event. */
  hasFinish: boolean;
  hasUsage: boolean;
  hasLast: boolean;
};

/** Characters of every length in UTF-8, and what looks like the stream's own. */
const piece = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
  fc.constantFrom(
    'é',
    '漢',
    '🚀',
    '"',
    '\\',
    '\n\n',
    '\r',
    'data: [DONE]\n\n',
    '"choices":[]',
    '"usage"',
    '"error":{"code":500}',
  ),
);
const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
const usually = fc.constantFrom(true, true, true, false);

export const said: fc.Arbitrary<Said> = fc.record({
  texts: fc.array(text, { maxLength: 5 }),
  call: fc.option(fc.array(text, { maxLength: 3 })),
  hasFinish: usually,
  hasUsage: usually,
  hasLast: usually,
});

const DONE: Told = { name: null, data: '[DONE]', isFinish: true, isLast: true };
const typed = (data: JsonObject & { type: string }): Told => ({ name: data.type, data });

type Choice = (text: string | null, reason: string | null) => JsonObject;

/** What chat completions and the older completions share. */
function chunks(
  object: string,
  choice: Choice,
  { texts, hasFinish, hasUsage, hasLast }: Said,
  calls: Told[],
) {
  const chunk = (choices: JsonObject[], usage: JsonObject | null): Told => ({
    name: null,
    data: { id: 'chatcmpl-1', object, created: 1, model: 'm-1', choices, usage },
  });
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
  return [
    ...texts.map((one) => chunk([choice(one, null)], null)),
    ...calls,
    ...(hasFinish ? [{ ...chunk([choice(null, 'stop')], null), isFinish: true }] : []),
    ...(hasUsage ? [{ ...chunk([], usage), isUsage: true }] : []),
    ...(hasLast ? [DONE] : []),
  ];
}

export function chat(all: Said): Told[] {
  const delta = (delta: JsonObject, finish_reason: string | null = null) => ({
    index: 0,
    delta,
    finish_reason,
  });
  const part = (call: JsonObject): Told => ({
    name: null,
    data: { id: 'chatcmpl-1', model: 'm-1', choices: [delta({ tool_calls: [{ index: 0, ...call }] })] },
  });
  const start = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } };
  const calls =
    all.call === null ? [] : [part(start), ...all.call.map((one) => part({ function: { arguments: one } }))];
  const role: Told = {
    name: null,
    data: { id: 'chatcmpl-1', model: 'm-1', choices: [delta({ role: 'assistant', content: '' })] },
  };
  const choice: Choice = (content, reason) => delta(content === null ? {} : { content }, reason);
  return [role, ...chunks('chat.completion.chunk', choice, all, calls)];
}

export function completions(all: Said): Told[] {
  const choice: Choice = (text, finish_reason) => ({ index: 0, text: text ?? '', finish_reason });
  return chunks('text_completion', choice, all, []);
}

export function responses({ texts, call, hasLast }: Said): Told[] {
  const head = { id: 'resp_1', object: 'response', model: 'm-1' };
  const item = { type: 'message', id: 'msg_1', role: 'assistant' };
  const part = { type: 'output_text', annotations: [] };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const whole = { ...item, status: 'completed', content: [{ ...part, text: texts.join('') }] };
  const usage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 };
  const called = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f' };
  const calls = call === null ? [] : [{ ...called, arguments: call.join('') }];
  const events = [
    typed({ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } }),
    typed({ type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } }),
    typed({ type: 'response.content_part.added', ...place, part: { ...part, text: '' } }),
    ...texts.map((delta) => typed({ type: 'response.output_text.delta', ...place, delta })),
  ];
  if (call !== null) {
    const item = { ...called, arguments: '' };
    events.push(
      typed({ type: 'response.output_item.added', output_index: 1, item }),
      ...call.map((delta) =>
        typed({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta }),
      ),
    );
  }
  const response = { ...head, status: 'completed', output: [whole, ...calls], usage };
  if (hasLast)
    events.push({ ...typed({ type: 'response.completed', response }), isFinish: true, isLast: true });
  return events;
}

export function messages({ texts, call, hasFinish, hasLast, hasUsage }: Said): Told[] {
  const usage = hasUsage ? { input_tokens: 9, output_tokens: 1 } : null;
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', content: [], usage };
  const block = (index: number, start: JsonObject, deltas: JsonObject[]) => [
    typed({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => typed({ type: 'content_block_delta', index, delta })),
    typed({ type: 'content_block_stop', index }),
  ];
  const pieces = (call ?? []).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  return [
    typed({ type: 'message_start', message }),
    typed({ type: 'ping' }),
    ...block(
      0,
      { type: 'text', text: '' },
      texts.map((one) => ({ type: 'text_delta', text: one })),
    ),
    ...(call === null ? [] : block(1, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }, pieces)),
    ...(hasFinish
      ? [
          {
            ...typed({
              type: 'message_delta',
              delta: { stop_reason: 'end_turn', stop_sequence: null },
              ...(hasUsage ? { usage: { output_tokens: 2 } } : {}),
            }),
            isFinish: true,
          },
        ]
      : []),
    ...(hasLast ? [{ ...typed({ type: 'message_stop' }), isFinish: true, isLast: true }] : []),
  ];
}
