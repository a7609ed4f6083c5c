import t from 'tap';
import { readUsage } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import { readMessage, writeCompletion } from '../../../../../gateway/dialects/mod.ts';

const USAGE = {
  input_tokens: 9,
  cache_read_input_tokens: 1,
  cache_creation_input_tokens: 2,
  output_tokens: 16,
};

function readCompletion(message: JsonObject): JsonObject {
  const whole = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-6',
    usage: USAGE,
    ...message,
  };
  return writeCompletion(readMessage(whole), 5);
}

t.test(
  'a text message becomes a completion whose prompt tokens include cache reads and writes',
  async (t) => {
    const completion = readCompletion({
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'text', text: ' you' },
      ],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
    t.same(completion, {
      id: 'msg_1',
      object: 'chat.completion',
      created: 5,
      model: 'claude-opus-4-6',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello you', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'stop_sequence',
          stop_sequence: 'END',
        },
      ],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 16,
        total_tokens: 28,
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      },
    });
    t.match(
      readUsage(completion),
      { promptTokens: 12, completionTokens: 16, cachedTokens: 1 },
      'as records count it',
    );
  },
);

t.test('cache writes for an hour keep their own count', async (t) => {
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  };
  const completion = readCompletion({ content: [], stop_reason: 'end_turn', usage });
  t.match(completion.usage, {
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 30, cache_write_1h_tokens: 20 },
  });
  t.match(readUsage(completion), { promptTokens: 40, cacheWriteTokens: 30, cacheWriteHourTokens: 20 });
});

t.test('a tool call becomes one with its input as exact JSON and content null', async (t) => {
  const raw =
    '{"content":[{"type":"tool_use","id":"a","name":"f","input":{"id":12345678901234567890}}],"stop_reason":"tool_use"}';
  const [choice] = readCompletion(parseExactJson(raw) as JsonObject).choices as JsonObject[];
  t.match(choice, {
    finish_reason: 'tool_calls',
    message: {
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"id":12345678901234567890}' } },
      ],
    },
  });
});

t.test('a refusal keeps the explanation of the provider', async (t) => {
  const stop_details = { type: 'refusal', category: 'cyber', explanation: 'It could do harm.' };
  const [choice] = readCompletion({ content: [], stop_reason: 'refusal', stop_details })
    .choices as JsonObject[];
  t.match(choice, {
    finish_reason: 'content_filter',
    message: { refusal: 'It could do harm.', content: null },
  });
});

t.test('JSON requested by way of a tool becomes content again', async (t) => {
  const content = [{ type: 'tool_use', id: 'a', name: 'answer_in_json', input: { a: 1 } }];
  const [choice] = readCompletion({ content, stop_reason: 'tool_use' }).choices as JsonObject[];
  t.match(choice, { finish_reason: 'stop', message: { content: '{"a":1}', tool_calls: undefined } });
});

t.test(
  'unknown blocks and stop reasons are tolerated, and a body that is no message is a provider error',
  async (t) => {
    const [choice] = readCompletion({ content: [{ type: 'hologram' }, null, 5], stop_reason: 'bored' })
      .choices as JsonObject[];
    t.match(choice, { finish_reason: 'stop', native_finish_reason: 'bored' });
    t.throws(() => readCompletion({ content: 'text' }), AssayError);
  },
);

t.test(
  'parseExactJson gives numbers for those that a double can hold, and keeps the digits of others',
  async (t) => {
    const text =
      '{"id":12345678901234567,"temperature":1.0,"top_p":0.10,"max_tokens":1e3,"x":0.30000000000000004}';
    const { id, ...others } = parseExactJson(text) as JsonObject;
    t.same(others, { temperature: 1, top_p: 0.1, max_tokens: 1_000, x: 0.1 + 0.2 });
    t.equal(JSON.stringify({ id }), '{"id":12345678901234567}');
  },
);

t.test('what prices depend on besides tokens is in the usage', async (t) => {
  const { usage } = readCompletion({
    content: [],
    usage: { ...USAGE, speed: 'fast', inference_geo: 'us', service_tier: 'priority' },
  });
  t.match(usage, { speed: 'fast', inference_geo: 'us', service_tier: undefined });
  t.match(readUsage({ usage }), { tier: 'fast', isInUs: true });
});
