/** Requests and responses that both dialects can express survive a translation to Anthropic's and back. */
import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import {
  readChatRequest,
  readCompletion,
  readMessage,
  readMessagesRequest,
  writeChatRequest,
  writeCompletion,
  writeMessage,
  writeMessagesRequest,
} from '../../../../gateway/dialects/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 });
const name = fc.stringMatching(/^[a-z_]{1,8}$/);
const mark = fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' });
const base64 = fc.base64String({ minLength: 4, maxLength: 12 });
const object = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const json = object.map((value) => JSON.stringify(value));

/** Members that are undefined are not there. */
function compact(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

function record(
  members: Record<string, fc.Arbitrary<unknown>>,
  required: string[],
): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: required }).map(compact);
}

const textPart = record({ type: fc.constant('text'), text, cache_control: mark }, ['type', 'text']);
/** A string, unless there are several parts or one with a breakpoint. */
const texts = fc.oneof(
  text,
  fc.array(textPart, { minLength: 2, maxLength: 3 }),
  textPart.filter((part) => 'cache_control' in part).map((part) => [part]),
);
const image = fc
  .oneof(
    fc.webUrl(),
    base64.map((data) => `data:image/png;base64,${data}`),
  )
  .chain((url) =>
    record({ type: fc.constant('image_url'), image_url: fc.constant({ url }), cache_control: mark }, [
      'type',
      'image_url',
    ]),
  );
const file = record(
  { file_data: base64.map((data) => `data:application/pdf;base64,${data}`), filename: text },
  // Without a name it gets one, as OpenAI asks for.
  ['file_data', 'filename'],
).map((content) => ({ type: 'file', file: content }));
const media = fc
  .tuple(
    fc.array(textPart, { maxLength: 2 }),
    fc.array(fc.oneof(image, file), { minLength: 1, maxLength: 2 }),
  )
  .map(([before, after]) => [...before, ...after]);
const user = fc.oneof(texts, media).map((content) => ({ role: 'user', content }));

const thinking = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
);
const call = record({ name, arguments: json }, ['name', 'arguments']);

/** An assistant's message, with a result for each of its calls. */
const assistant = fc
  .record({
    content: fc.option(texts),
    calls: fc.array(fc.tuple(call, texts, fc.boolean()), { maxLength: 3 }),
    thinking_blocks: fc.array(thinking, { maxLength: 2 }),
  })
  .filter(({ content, calls }) => content !== null || calls.length > 0)
  .map(({ content, calls, thinking_blocks }) => (turn: number) => {
    const id = (index: number) => `call_${turn}_${index}`;
    const message = compact({
      role: 'assistant',
      content,
      tool_calls:
        calls.length === 0
          ? undefined
          : calls.map(([definition], index) => ({ id: id(index), type: 'function', function: definition })),
      thinking_blocks: thinking_blocks.length === 0 ? undefined : thinking_blocks,
    });
    const results = calls.map(([, result, is_error], index) =>
      compact({
        role: 'tool',
        tool_call_id: id(index),
        content: result,
        is_error: is_error ? true : undefined,
      }),
    );
    return [message, ...results];
  });

const messages = fc
  .tuple(fc.option(texts), fc.array(fc.oneof(user, assistant), { minLength: 1, maxLength: 6 }))
  .map(([system, turns]) => [
    ...(system === null ? [] : [{ role: 'system', content: system }]),
    ...turns.flatMap((turn, index) => (typeof turn === 'function' ? turn(index) : [turn])),
  ]);

const tool = record(
  {
    name,
    description: text,
    parameters: object.map((schema) => ({ type: 'object', ...schema })),
    strict: fc.constant(true),
  },
  ['name', 'parameters'],
);
const tools = fc
  .uniqueArray(tool, { minLength: 1, maxLength: 3, selector: (one) => one.name })
  .chain((definitions) =>
    record(
      {
        tools: fc.constant(definitions.map((definition) => ({ type: 'function', function: definition }))),
        tool_choice: fc.constantFrom('auto', 'required', {
          type: 'function',
          function: { name: definitions[0]?.name },
        }),
        parallel_tool_calls: fc.constant(false),
      },
      ['tools'],
    ).map((wish) => ('parallel_tool_calls' in wish ? { tool_choice: 'auto', ...wish } : wish)),
  );

/** 1 is OpenAI's default, which is left out. */
const belowOne = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const request = fc
  .tuple(
    fc.record({ messages, max_completion_tokens: fc.integer({ min: 1, max: 9_999 }) }),
    record(
      {
        temperature: belowOne,
        top_p: belowOne,
        top_k: fc.integer({ min: 1, max: 500 }),
        stop: fc.array(name, { minLength: 1, maxLength: 4 }),
        stream: fc.constant(true),
        user: name,
        service_tier: fc.constant('default'),
        reasoning_effort: fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max'),
        thinking: fc.constant({ type: 'adaptive' }),
        cache_control: mark,
        response_format: object.map((schema) => ({
          type: 'json_schema',
          json_schema: { name: 'answer', schema, strict: true },
        })),
      },
      [],
    ),
    fc.option(tools),
  )
  .map(([needed, wishes, tooling]) => ({ model: 'm', ...needed, ...wishes, ...tooling }) as JsonObject);

t.test('a chat request translated to Anthropic’s dialect and back is unchanged', async (t) => {
  fc.assert(
    fc.property(request, (body) => {
      // As it goes over the wire.
      const there = JSON.parse(
        JSON.stringify(
          writeMessagesRequest(readChatRequest(body), { model: 'claude-opus-4-6', maxTokensDefault: 1 }),
        ),
      );
      const back = writeChatRequest(readMessagesRequest(there), {
        model: 'm',
        maxTokensField: 'max_completion_tokens',
        extensions: 'anthropic',
        takesUserAndTier: true,
        highestEffort: 'max',
        effortModels: null,
        asksForUsage: false,
      });
      // Effort is thinking at Anthropic, which says so.
      const expected = 'reasoning_effort' in body ? { ...body, thinking: { type: 'adaptive' } } : body;
      deepStrictEqual(JSON.parse(JSON.stringify(back)), JSON.parse(JSON.stringify(expected)));
    }),
    runs(t, 600),
  );
});

const completion = fc
  .record({
    content: fc.option(text),
    refusal: fc.constant(null),
    reasoning_content: fc.option(text),
    calls: fc.array(call, { maxLength: 3 }),
    finish: fc.constantFrom('stop', 'length', 'content_filter'),
    counts: fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat()),
  })
  .map(
    ({ content, refusal, reasoning_content, calls, finish, counts: [fresh, cached, written, output] }) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 5,
      model: 'm',
      choices: [
        {
          index: 0,
          message: compact({
            role: 'assistant',
            content,
            refusal,
            reasoning_content: reasoning_content ?? undefined,
            tool_calls:
              calls.length === 0
                ? undefined
                : calls.map((definition, index) => ({
                    id: `c${index}`,
                    type: 'function',
                    function: definition,
                  })),
          }),
          logprobs: null,
          finish_reason: calls.length > 0 ? 'tool_calls' : finish,
        },
      ],
      usage: {
        prompt_tokens: (fresh % 1_000) + (cached % 1_000) + (written % 1_000),
        completion_tokens: output % 1_000,
        total_tokens: (fresh % 1_000) + (cached % 1_000) + (written % 1_000) + (output % 1_000),
        prompt_tokens_details: { cached_tokens: cached % 1_000, cache_write_tokens: written % 1_000 },
      },
    }),
  );

t.test('a completion translated to Anthropic’s dialect and back is unchanged', async (t) => {
  fc.assert(
    fc.property(completion, (answer) => {
      const back = writeCompletion(
        readMessage(JSON.parse(JSON.stringify(writeMessage(readCompletion(answer))))),
        5,
      );
      const [choice] = back.choices as [{ message: JsonObject } & JsonObject];
      // Anthropic's own names, which OpenAI's dialect does not have.
      delete choice.native_finish_reason;
      delete choice.message.thinking_blocks;
      deepStrictEqual(JSON.parse(JSON.stringify(back)), JSON.parse(JSON.stringify(answer)));
    }),
    runs(t, 500),
  );
});
