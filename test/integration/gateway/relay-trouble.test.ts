/** Failures of providers and clients, as the client and the record see them. */
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { leastOf } from '../../support/least-of.ts';

const gateway = await startTestGateway(t);
t.afterEach(() => gateway.provider.script(null));

const GOOD = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const lastCall = () => gateway.provider.requests.at(-1)!;

t.test("a provider's error is relayed unchanged, and its record has no cost", async (t) => {
  gateway.provider.script(() => ({
    kind: 'error',
    status: 429,
    message: 'slow down',
    type: 'tokens',
    code: 'rate_limit_exceeded',
    headers: { 'retry-after': '3', 'x-ratelimit-reset-requests': '1s' },
  }));
  const answer = await gateway.chat(GOOD);
  t.equal(answer.status, 429);
  t.equal(answer.headers.get('retry-after'), '3');
  t.equal(answer.headers.get('x-ratelimit-reset-requests'), '1s');
  t.match(await answer.json(), {
    error: { message: 'slow down', type: 'tokens', code: 'rate_limit_exceeded' },
  });
  t.match(await gateway.record(answer), {
    status: 429,
    cost_nano: null,
    prompt_tokens: null,
    error_code: null,
  });
});

for (const [status, type] of [
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [503, 'service_unavailable'],
  [529, 'overloaded_error'],
] as const) {
  t.test(
    `an HTML page with status ${status} becomes an error of type ${type} with the page's text`,
    async (t) => {
      gateway.provider.script(() => ({ kind: 'html', status, body: '<h1>No</h1>' }));
      const answer = await gateway.chat(GOOD);
      t.equal(answer.status, status);
      t.match(answer.headers.get('content-type'), /^application\/json/);
      t.same(await answer.json(), {
        error: {
          message: `The provider OPENAI answered ${status}: <h1>No</h1>`,
          type,
          param: null,
          code: null,
        },
      });
      t.same(JSON.parse((await gateway.record(answer)).response_text), { text: '<h1>No</h1>' });
    },
  );
}

t.test('an HTML page with status 200 is a 502, and its record keeps the page', async (t) => {
  gateway.provider.script(() => ({ kind: 'html', status: 200, body: '<h1>Log in</h1>' }));
  const answer = await gateway.chat(GOOD);
  t.equal(answer.status, 502);
  t.match(await answer.json(), {
    error: { code: 'provider_bad_answer', message: /^The provider OPENAI answered 200 with text\/html/ },
  });
  t.match(await gateway.record(answer), {
    status: 502,
    error_code: 'provider_bad_answer',
    response_text: '{"text":"<h1>Log in</h1>"}',
  });
});

t.test('truncated JSON under status 200 is a 502, and is not relayed', async (t) => {
  for (const body of [
    '{"id":"chatcmpl-1","object":"',
    '{"id":"chatcmpl-1","choices":[]',
    '{',
    '[',
    '"a"',
    '}{',
    '  ',
  ]) {
    gateway.provider.script(() => ({ kind: 'bytes', body, headers: { 'content-type': 'application/json' } }));
    const answer = await gateway.chat(GOOD);
    t.equal(answer.status, 502, body);
    t.match(await answer.json(), {
      error: {
        code: 'provider_bad_answer',
        message: 'The provider OPENAI answered 200 with JSON that breaks off',
      },
    });
  }
  const kept = '\n\n {"id":"chatcmpl-1"}\n';
  gateway.provider.script(() => ({
    kind: 'bytes',
    body: kept,
    headers: { 'content-type': 'application/json' },
  }));
  const answer = await gateway.chat(GOOD);
  t.equal(await answer.text(), kept, 'blank lines around it are its own');
});

t.test('a response in an unknown content encoding is a 502', async (t) => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'snappy' };
  gateway.provider.script(() => ({ kind: 'bytes', body: '{"id":"chatcmpl-1"}', headers }));
  const answer = await gateway.chat(GOOD);
  t.equal(answer.status, 502);
  t.match(await answer.json(), {
    error: {
      code: 'provider_bad_answer',
      message: 'The provider OPENAI answered in the content-encoding "snappy", which is not known here',
    },
  });
});

t.test('a redirect of a provider is a 502, and not followed', async (t) => {
  gateway.provider.script(() => ({
    kind: 'bytes',
    status: 302,
    body: '',
    headers: { location: 'http://127.0.0.1:1/' },
  }));
  const answer = await gateway.chat(GOOD);
  t.equal(answer.status, 502);
  t.equal(answer.headers.get('location'), null);
  await answer.text();
});

for (const behaviour of [
  { kind: 'reset' },
  { kind: 'cut', at: 'headers' },
  { kind: 'cut', at: 'body' },
  { kind: 'wrong-length', by: 10 },
] as const) {
  t.test(`a provider that fails (${JSON.stringify(behaviour)}) is a 502 and a record`, async (t) => {
    gateway.provider.script(() => behaviour);
    const answer = await gateway.chat(GOOD);
    t.equal(answer.status, 502);
    t.match(await answer.json(), { error: { code: 'provider_unreachable', type: 'api_connection_error' } });
    t.match(await gateway.record(answer), {
      status: 502,
      error_code: 'provider_unreachable',
      truncated: true,
    });
  });
}

t.test('an unreachable provider is a 502 that does not reveal its address', async (t) => {
  const down = await startTestGateway(t, {
    CUSTOM_BASE_URL: 'http://127.0.0.1:9/v1',
    CUSTOM_API_KEY: 'k',
  });
  const answer = await down.chat({ ...GOOD, model: 'custom/m' });
  t.equal(answer.status, 502);
  t.match(await answer.json(), {
    error: { message: 'The provider CUSTOM could not be reached', code: 'provider_unreachable' },
  });
  t.match(await down.record(answer), { status: 502, provider: 'CUSTOM', model: 'm' });
});

t.test('a provider that never answers is a 504 after the first-byte timeout', async (t) => {
  const slow = await startTestGateway(t, { PROVIDER_FIRST_BYTE_TIMEOUT_MS: '300' });
  slow.provider.script(() => ({ kind: 'hang' }));
  const answer = await slow.chat(GOOD);
  t.equal(answer.status, 504);
  t.match(await answer.json(), {
    error: { code: 'provider_timeout', message: 'The provider OPENAI sent no answer within 300 ms' },
  });
  t.match(await slow.record(answer), { status: 504, error_code: 'provider_timeout' });
});

t.test(
  'a client that hangs up while it waits aborts the provider call within 100 ms, and is recorded as 499',
  async (t) => {
    gateway.provider.script(() => ({ kind: 'hang' }));
    const leastMs = await leastOf(
      10,
      async () => {
        const calls = gateway.provider.requests.length;
        const id = newRequestId();
        const leaving = new AbortController();
        const call = fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          signal: leaving.signal,
          headers: { authorization: `Bearer ${gateway.key}`, 'service-request-id': id },
          body: JSON.stringify(GOOD),
        });
        while (gateway.provider.requests.length === calls)
          await new Promise((resolve) => setImmediate(resolve));
        const leftAt = performance.now();
        leaving.abort();
        await t.rejects(call);
        await lastCall().ended;
        t.equal(lastCall().aborted, true);
        t.match(await gateway.record(id), {
          status: 499,
          truncated: true,
          error_code: 'client_closed_request',
        });
        return lastCall().abortedAtMs! - leftAt;
      },
      100,
    );
    t.ok(leastMs < 100, `${leastMs} ms`);
  },
);
