/** Answers of OpenAI's Responses as Messages, whole and streamed. */
import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import {
  readMessagesRequest,
  readResponse,
  writeMessage,
  writeResponsesRequest,
} from '../../../../../gateway/dialects/mod.ts';
import { TRANSLATIONS } from '../../../../../gateway/translations/mod.ts';
import { anyCharacter } from '../../../../support/any-character.ts';
import { runs } from '../../../../support/fuzz-runs.ts';
import { dataOf, translateCut } from '../streams.ts';

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 25 },
};

const responseOf = (output: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  model: 'gpt-5.6',
  status: 'completed',
  output,
  usage: USAGE,
  ...more,
});
const messageOf = (...content: JsonObject[]) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content,
});
const text = (value: string) => ({ type: 'output_text', text: value, annotations: [] });
const callOf = (json: string) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  arguments: json,
});
const answerOf = (output: JsonObject[], more: JsonObject = {}) =>
  writeMessage(readResponse(responseOf(output, more), 'OPENAI'));

t.test('reasoning, texts and calls are blocks in their order, and tokens are counted once', async (t) => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
  t.same(answerOf([reasoning, messageOf(text('I look.')), callOf('{"n":1}')]), {
    id: 'resp_1',
    type: 'message',
    role: 'assistant',
    model: 'gpt-5.6',
    content: [
      { type: 'redacted_thinking', data: '~assay.reasoning.OPENAI.rs_1.gAAA' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'f', input: { n: 1 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 50,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 30,
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 25 },
    },
  });
});

t.test('a summary is thinking; reasoning that can be neither shown nor sent back is none', async (t) => {
  const summary = ['One', 'Two'].map((one) => ({ type: 'summary_text', text: one }));
  const { content } = answerOf([
    { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'gAAA' },
    { type: 'reasoning', id: 'rs_2', summary: [] },
    messageOf(text('Yes')),
  ]);
  t.same(content, [
    { type: 'thinking', thinking: 'One\n\nTwo', signature: '~assay.reasoning.OPENAI.rs_1.gAAA' },
    { type: 'text', text: 'Yes' },
  ]);
});

t.test('the reason for the end is in Anthropic’s words', async (t) => {
  const reasonOf = (output: JsonObject[], more: JsonObject = {}) => answerOf(output, more).stop_reason;
  const incomplete = (reason: string) => ({ status: 'incomplete', incomplete_details: { reason } });
  t.equal(reasonOf([messageOf(text('Yes'))]), 'end_turn');
  t.equal(reasonOf([callOf('{}')]), 'tool_use');
  t.equal(reasonOf([messageOf(text('Ye'))], incomplete('max_output_tokens')), 'max_tokens');
  t.equal(reasonOf([callOf('{"a":')], incomplete('max_output_tokens')), 'max_tokens');
  t.equal(reasonOf([], incomplete('content_filter')), 'refusal');
  t.same(answerOf([messageOf({ type: 'refusal', refusal: 'No.' })]).content, [{ type: 'text', text: 'No.' }]);
});

t.test('an answer that failed, and one that is none, are errors that say so', async (t) => {
  const fails = (response: JsonObject, message: RegExp) =>
    t.throws(() => writeMessage(readResponse(response, 'OPENAI')), { code: 'provider_bad_answer', message });
  fails(responseOf([], { status: 'failed', error: { code: 'server_error', message: 'Sorry' } }), /^Sorry$/);
  fails({ choices: [] }, /not a response/);
  fails(responseOf([callOf('[1]')]), /the tool "f" with arguments that are not a JSON object/);
});

/** An item of an output, and the pieces in which a stream brings it. */
type Streamed = { item: JsonObject; events(place: number): JsonObject[] };

const said = fc.array(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 3,
});
const messages: fc.Arbitrary<Streamed> = fc.array(said, { minLength: 1, maxLength: 2 }).map((parts) => ({
  item: messageOf(...parts.map((pieces) => text(pieces.join('')))),
  events: (output_index) =>
    parts.flatMap((pieces, content_index) => [
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', output_index, content_index, delta })),
      { type: 'response.output_text.done', output_index, content_index, text: pieces.join('') },
    ]),
}));
const reasonings: fc.Arbitrary<Streamed> = fc
  .record({
    parts: fc.array(said, { maxLength: 2 }),
    encrypted: fc.option(fc.base64String({ minLength: 4, maxLength: 12 })),
  })
  .map(({ parts, encrypted }) => ({
    item: {
      type: 'reasoning',
      id: 'rs_1',
      summary: parts.map((pieces) => ({ type: 'summary_text', text: pieces.join('') })),
      encrypted_content: encrypted,
    },
    events: (output_index) =>
      parts.flatMap((pieces, summary_index) => [
        { type: 'response.reasoning_summary_part.added', output_index, summary_index },
        ...pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', output_index, delta })),
      ]),
  }));
const calls: fc.Arbitrary<Streamed> = fc
  .record({ input: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }), at: fc.nat({ max: 10 }) })
  .map(({ input, at }) => {
    const json = JSON.stringify(input);
    const pieces = [json.slice(0, at), json.slice(at)].filter((piece) => piece !== '');
    return {
      item: callOf(json),
      events: (output_index) =>
        pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', output_index, delta })),
    };
  });

/** The stream of a response, as OpenAI sends it. */
function streamOf(output: readonly Streamed[], response: JsonObject): Buffer {
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    ...output.flatMap(({ item, events }, output_index) => [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, content: [], summary: [], arguments: '', encrypted_content: null },
      },
      ...events(output_index),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: `response.${response.status}`, response },
  ];
  const frames = events.map(
    (event, sequence_number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
  return Buffer.from(frames.join(''));
}

const make = () =>
  TRANSLATIONS['messages by responses'].stream({ created: 0, label: 'OPENAI', maxEventBytes: 1024 * 1024 });

t.test(
  'a streamed answer, cut anywhere, is the whole one, and goes back as the items that it had',
  async () => {
    await fc.assert(
      fc.property(
        fc.array(fc.oneof(messages, reasonings, calls), { maxLength: 5 }),
        fc.constantFrom('completed', 'incomplete'),
        fc.array(fc.nat({ max: 4_000 }), { maxLength: 8 }),
        (output, status, cuts) => {
          const details = status === 'incomplete' ? { reason: 'max_output_tokens' } : null;
          const response = responseOf(
            output.map(({ item }) => item),
            { status, incomplete_details: details },
          );
          const whole = writeMessage(readResponse(response, 'OPENAI'));
          const { completion } = assembleStream(translateCut(make, streamOf(output, response), cuts));
          deepStrictEqual(saidBy(completion), saidBy(whole));
          const again = writeResponsesRequest(
            readMessagesRequest({ max_tokens: 9, messages: [{ role: 'assistant', content: whole.content }] }),
            { model: 'gpt-5.6', provider: 'OPENAI', highestEffort: 'max', effortModels: null },
          );
          deepStrictEqual(
            encryptedOf(again.input as JsonObject[]),
            encryptedOf(kept(response.output as JsonObject[])),
          );
        },
      ),
      runs(t, 2_000),
    );
  },
);

/** What an answer says, in plain objects. */
function saidBy({ content, stop_reason, usage }: JsonObject): unknown {
  return JSON.parse(JSON.stringify({ content, stop_reason, usage }));
}

/** What a model goes on from: its encrypted reasoning and its calls, in their order. */
function encryptedOf(items: readonly JsonObject[]): unknown[] {
  return items.flatMap((item) =>
    item.type === 'function_call'
      ? [item.arguments]
      : typeof item.encrypted_content === 'string'
        ? [item.encrypted_content]
        : [],
  );
}

/** Without reasoning that nothing follows. */
function kept(output: readonly JsonObject[]): JsonObject[] {
  const last = output.findLastIndex(({ type }) => type !== 'reasoning');
  return output.slice(0, last + 1);
}

t.test('a call that comes in one piece is read at its end', async (t) => {
  const item = callOf('{"a":1}');
  const stream = streamOf([{ item, events: () => [] }], responseOf([item]));
  const { completion } = assembleStream(translateCut(make, stream, []));
  t.match(completion.content, [{ type: 'tool_use', id: 'call_1', input: { a: 1 } }]);
});

t.test('a failure in the middle of a stream is Anthropic’s error, and nothing follows', async (t) => {
  const errorOf = (event: JsonObject) => {
    const created = { type: 'response.created', response: { id: 'resp_1', model: 'gpt-5.6' } };
    const frames = [created, event, { type: 'response.output_text.delta', delta: 'late' }];
    const stream = frames.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
    return dataOf(translateCut(make, Buffer.from(stream), [])).at(-1);
  };
  const failed = (error: JsonObject) => ({ type: 'response.failed', response: { error } });
  t.same(errorOf(failed({ code: 'rate_limit_exceeded', message: 'Slow' })), {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Slow' },
  });
  t.match(errorOf(failed({ code: 'server_error', message: 'Oh' })), { error: { type: 'api_error' } });
  t.match(errorOf({ type: 'error', code: 'invalid_prompt', message: 'No' }), {
    error: { type: 'invalid_request_error', message: 'No' },
  });
  t.match(errorOf({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }), {
    error: { type: 'overloaded_error', message: 'Busy' },
  });
});

t.test('a stream that breaks off has no end', async (t) => {
  const stream = streamOf([], responseOf([])).toString('utf8');
  const torn = stream.slice(0, stream.indexOf('event: response.completed'));
  t.notMatch(translateCut(make, Buffer.from(torn), []), /message_stop/);
});
