import t from 'tap';
import { toAnthropicError, toOpenAiError } from '../../../../gateway/dialects/mod.ts';

t.test('an Anthropic error keeps its type and message in OpenAI’s format', async (t) => {
  const body =
    '{"type":"error","error":{"type":"not_found_error","message":"model: x"},"request_id":"req_1"}';
  t.same(toOpenAiError(404, body), {
    error: { message: 'model: x', type: 'not_found_error', param: null, code: null },
  });
});

t.test(
  'an error body without a known format gets its type from the status and its text as message',
  async (t) => {
    for (const [status, type] of [
      [400, 'invalid_request_error'],
      [401, 'authentication_error'],
      [403, 'permission_error'],
      [404, 'not_found_error'],
      [413, 'request_too_large'],
      [422, 'invalid_request_error'],
      [429, 'rate_limit_error'],
      [500, 'api_error'],
      [503, 'service_unavailable'],
      [529, 'overloaded_error'],
      [599, 'api_error'],
    ] as const) {
      t.same(toOpenAiError(status, ' <h1>Sorry</h1>\n'), {
        error: { message: '<h1>Sorry</h1>', type, param: null, code: null },
      });
    }
    t.match(toOpenAiError(502, ''), { error: { message: 'The provider answered with the status 502' } });
    t.match(toOpenAiError(500, '{"error":"plain"}'), { error: { message: 'plain' } });
    t.match(toOpenAiError(500, '[]'), { error: { message: '[]', type: 'api_error' } });
    const { error } = toOpenAiError(500, 'x'.repeat(100_000)) as { error: { message: string } };
    t.equal(error.message.length, 2_001, 'of a page only the beginning');
  },
);

t.test('what a provider says of an error reaches the client, in whatever form it says it', async (t) => {
  const google = '[{"error":{"code":400,"message":"Bad argument","status":"INVALID_ARGUMENT"}}]';
  t.match(toAnthropicError(400, google), { error: { message: 'Bad argument' } });
  for (const body of [
    '{"object":"error","message":{"detail":[{"loc":["body","user"],"msg":"Extra inputs are not permitted"}]}}',
    '{"detail":"Not authenticated"}',
    '{"error":{"code":"x","message":""}}',
  ])
    t.match(toAnthropicError(422, body), { error: { message: body } });
});

t.test('a conversation beyond a model’s context is told to Anthropic’s clients in their words', async (t) => {
  const told = (error: object) => toAnthropicError(400, JSON.stringify({ error }));
  const code = 'context_length_exceeded';
  t.match(told({ message: "This model's maximum context length is 128000 tokens.", code }), {
    error: {
      type: 'invalid_request_error',
      message: "prompt is too long: This model's maximum context length is 128000 tokens.",
    },
  });
  t.match(told({ message: 'prompt is too long: 5', code }), { error: { message: 'prompt is too long: 5' } });
});

t.test('an error in OpenAI’s format gets the Anthropic type of its status', async (t) => {
  const body = '{"error":{"message":"No","type":"insufficient_quota","param":null,"code":"x"}}';
  t.same(toAnthropicError(429, body, 'req-1'), {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'No' },
    request_id: 'req-1',
  });
  t.match(toAnthropicError(503, body), { error: { type: 'overloaded_error' } });
  t.match(toAnthropicError(504, body), { error: { type: 'timeout_error' } });
  t.match(toAnthropicError(400, body), { error: { type: 'invalid_request_error' } });
  t.match(toAnthropicError(502, ''), { type: 'error', error: { type: 'api_error' } });
});

t.test(
  'a prompt beyond Claude’s context window is reported with the code context_length_exceeded',
  async (t) => {
    const told = (message: string, status = 400) =>
      toOpenAiError(
        status,
        JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
      );
    for (const message of [
      'prompt is too long: 209353 tokens > 199999 maximum',
      'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    ]) {
      t.strictSame(told(message), {
        error: { message, type: 'invalid_request_error', param: null, code: 'context_length_exceeded' },
      });
    }
    for (const message of [
      'messages: the prompt is too long to quote here',
      'max_tokens: must be at least 1',
    ])
      t.match(told(message), { error: { code: null } }, message);
    t.match(told('prompt is too long', 500), { error: { code: null } }, 'a failure of the provider is none');
  },
);
