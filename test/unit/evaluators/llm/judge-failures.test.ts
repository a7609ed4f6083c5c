/** Judges that give no verdict: the code of each failure, and whether another attempt follows. */
import t from 'tap';
import { ask, error, scriptedJudge, verdict } from '../../../support/judge/scripted-judge.ts';

/** Statuses and bodies as providers and the gateway send them. */
const FAILURES: [string, ReturnType<typeof error> & { retryAfterMs?: number }, object][] = [
  [
    '429 with Retry-After',
    { ...error(429, 'Rate limit reached'), retryAfterMs: 7_000 },
    { code: 'judge_rate_limited', retry: 'later', retryAfterMs: 7_000, pause: null },
  ],
  [
    '429 with a delay of a week',
    { ...error(429, 'Slow down'), retryAfterMs: 604_800_000 },
    { code: 'judge_rate_limited', retryAfterMs: 3_600_000 },
  ],
  [
    '429 without a delay',
    error(429, 'Rate limit reached'),
    { code: 'judge_rate_limited', retryAfterMs: null },
  ],
  [
    "Google's 429, which speaks of quota and billing and means the minute",
    {
      status: 429,
      text: '[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]',
    },
    { code: 'judge_rate_limited', retry: 'later', retryAfterMs: 34_500, pause: null },
  ],
  [
    "OpenAI's 429 of an empty account",
    error(429, 'You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
    { code: 'judge_billing', pause: 'billing' },
  ],
  ['402', error(402, 'Insufficient Balance'), { code: 'judge_billing', pause: 'billing', retry: 'later' }],
  [
    "Anthropic's 400 of an empty account",
    error(400, 'Your credit balance is too low to access the Anthropic API.'),
    { code: 'judge_billing', pause: 'billing' },
  ],
  [
    '401',
    error(401, 'Incorrect API key provided: sk-proj-abcdefgh1234', { code: 'invalid_api_key' }),
    {
      code: 'judge_unauthorized',
      pause: 'auth',
      message: "The judge's provider answered 401: Incorrect API key provided: ***",
    },
  ],
  [
    '403',
    error(403, 'Country, region, or territory not supported'),
    { code: 'judge_unauthorized', pause: 'auth' },
  ],
  [
    "Google's 400 of a wrong key",
    error(400, 'API key not valid. Please pass a valid API key.'),
    { code: 'judge_unauthorized', pause: 'auth' },
  ],
  [
    '404 of the gateway',
    error(404, "The model 'my-function-tool' does not exist here", { code: 'model_not_found' }),
    { code: 'judge_model_unavailable', pause: 'model' },
  ],
  [
    '403 of a model',
    error(403, 'Project `p` does not have access to model `gpt-9`', { code: 'model_not_found' }),
    { code: 'judge_model_unavailable', pause: 'model' },
  ],
  [
    '400 of a model that is gone',
    error(400, 'The model `llama2-70b` has been decommissioned', { code: 'model_decommissioned' }),
    { code: 'judge_model_unavailable', pause: 'model' },
  ],
  [
    '400 of a provider without an address',
    error(400, 'needs the provider custom, which has no address here', { code: 'provider_not_configured' }),
    { code: 'judge_model_unavailable', pause: 'model' },
  ],
  [
    '404 of a page',
    { status: 404, text: '<html>nginx</html>' },
    { code: 'judge_model_unavailable', pause: 'model' },
  ],
  [
    'a prompt that is too long',
    error(
      400,
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the messages, 2000 in the completion).",
      { param: 'messages', code: 'context_length_exceeded' },
    ),
    { code: 'input_too_large', retry: 'never' },
  ],
  ['413', error(413, 'Request too large'), { code: 'input_too_large', retry: 'never' }],
  [
    "Azure's filter of the prompt",
    error(
      400,
      "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      { code: 'content_filter', param: 'prompt' },
    ),
    { code: 'judge_content_filtered', retry: 'never', pause: null },
  ],
  [
    "OpenRouter's moderation",
    error(403, 'openai/gpt-4o requires moderation on OpenAI. Your input was flagged for "violence"'),
    { code: 'judge_content_filtered', pause: null },
  ],
  ['500', error(500, 'The server had an error'), { code: 'judge_unavailable', retry: 'later' }],
  [
    '503 with Retry-After',
    { ...error(503, 'Overloaded'), retryAfterMs: 2_000 },
    { code: 'judge_unavailable', retry: 'later', retryAfterMs: 2_000 },
  ],
  ['529', error(529, 'Overloaded'), { code: 'judge_unavailable', retry: 'later' }],
  [
    '502 with a page',
    { status: 502, text: '<html>Bad gateway: insufficient_quota</html>' },
    { code: 'judge_unavailable', pause: null },
  ],
  [
    '504 of the gateway',
    error(504, 'The provider sent no answer within 300000 ms', { code: 'provider_timeout' }),
    { code: 'judge_timeout', retry: 'later' },
  ],
  ['408', error(408, 'Request timeout'), { code: 'judge_timeout', retry: 'later' }],
  [
    'another 400',
    error(400, 'Invalid value for seed'),
    { code: 'judge_rejected', retry: 'never', pause: null },
  ],
  [
    'a 400 with nothing in it',
    { status: 400, text: '' },
    { code: 'judge_rejected', message: "The judge's provider answered 400" },
  ],
  ['a redirect', { status: 302, text: '' }, { code: 'judge_malformed', retry: 'never' }],
];

for (const [name, answer, expected] of FAILURES) {
  t.test(`a judge call fails with the code for its cause: ${name}`, async (t) => {
    const { outcome, use } = await ask(scriptedJudge(answer));
    t.match(outcome, { state: 'failed', traces: null, ...expected });
    t.equal(use?.calls, 'code' in expected && expected.code === 'judge_malformed' ? 2 : 1);
  });
}

t.test('a provider that refuses every feature of the request is called at most ten times', async (t) => {
  const call = scriptedJudge(error(400, 'tools temperature max_tokens response_format system role'));
  t.match(await ask(call), { outcome: { state: 'failed', code: 'judge_rejected' } });
  t.ok(call.requests.length <= 10);
});

t.test('a judge call without a response fails with the code for its cause', async (t) => {
  t.match(await ask(scriptedJudge('timeout')), { outcome: { code: 'judge_timeout', retry: 'later' } });
  t.match(await ask(scriptedJudge('unreachable')), {
    outcome: { code: 'judge_unavailable', retry: 'later' },
  });
  t.match(await ask(scriptedJudge('too_large')), { outcome: { code: 'judge_too_large', retry: 'never' } });
  t.match(await ask(scriptedJudge('aborted')), { outcome: { code: 'worker_lost', retry: 'later' } });
  const call = scriptedJudge(verdict(4));
  t.match(await ask(call, { signal: AbortSignal.abort() }), { outcome: { code: 'worker_lost' }, use: null });
  t.equal(call.requests.length, 0);
});

t.test("a provider's error message is shown in one line of at most 500 characters", async (t) => {
  const { outcome } = await ask(scriptedJudge(error(400, `a\u0000b\n${'x'.repeat(9_000)}`)));
  t.ok(outcome.state === 'failed' && outcome.message.length <= 500);
  t.notMatch(outcome.state === 'failed' && outcome.message, /\p{Cc}/u);
});
