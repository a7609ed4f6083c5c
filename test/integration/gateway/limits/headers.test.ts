/** Rate-limit headers of responses from any source, and the response to a refused call. */
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import {
  CHAT,
  type Headers,
  limitHeaders,
  MODEL,
  readAll,
  remainingOf,
  STREAM,
  startLimitsWorld,
} from './world.ts';

const world = await startLimitsWorld(t, { PROVIDER_FIRST_BYTE_TIMEOUT_MS: '2000' });
const { gateway, provider } = world;
t.afterEach(() => provider.script(null));

const FIVE_A_MINUTE = { 'Service-RateLimit-Policy': '5;w=60' };
/** The sub-bucket of a call leaves the window of 60 s within a second of its end. */
const RESETS = new Set(['60', '61']);

/** All of an admitted call's limit headers, and no other. */
function checkHeaders(t: Test, headers: Headers, remaining: number): void {
  // A busy machine may seem to have lost its counters: the share of an only gateway is the quota, a call whose counting was
  // not answered in time may count twice until it is, and all else stays.
  const { 'service-ratelimit-reset': reset = '', 'service-ratelimit-degraded': isBusy, ...others } = headers;
  const left =
    isBusy === 'true' ? Math.min(remaining, Number(others['service-ratelimit-remaining'])) : remaining;
  t.ok(left >= remaining - 1, `${left} left`);
  t.ok(RESETS.has(reset) || remaining === 5, `resets in ${reset} s`);
  t.same(others, {
    'service-ratelimit-limit': '5',
    'service-ratelimit-policy': '5;w=60;u=request',
    'service-ratelimit-remaining': String(left),
    'ratelimit-policy': '"default";q=5;w=60',
    ratelimit: `"default";r=${left};t=${reset}`,
  });
}

t.test('each response under a policy reports the remaining quota, plain and streamed', async (t) => {
  const key = await world.newKey();
  let wasCountedTwice = false;
  for (const [body, remaining] of [
    [CHAT, 4],
    [STREAM, 3],
    [CHAT, 2],
    [STREAM, 1],
    [CHAT, 0],
  ] as const) {
    const answer = await gateway.chat(key, FIVE_A_MINUTE, body);
    t.equal(answer.status, 200);
    const headers = limitHeaders(answer);
    // On a busy machine one response may still count the call before it twice, as its counting is answered.
    const isCountedTwice: boolean = !wasCountedTwice && remainingOf(answer) === remaining - 1;
    wasCountedTwice ||= isCountedTwice;
    checkHeaders(t, headers, isCountedTwice ? remaining - 1 : remaining);
    await answer.text();
  }
});

const FAILURES: [what: string, behaviour: Behaviour, status: number][] = [
  ['a provider that answers 500', { kind: 'error', status: 500 }, 500],
  ['a provider that answers 400', { kind: 'error', status: 400 }, 400],
  ['a page instead of a completion', { kind: 'html', status: 200 }, 502],
  ['a page with an error', { kind: 'html', status: 503 }, 503],
  ['a provider that resets the connection', { kind: 'reset' }, 502],
  ['an answer that breaks off', { kind: 'cut', at: 'body' }, 502],
  ['a provider that is silent', { kind: 'hang' }, 504],
];

for (const [what, behaviour, status] of FAILURES) {
  t.test(`${what} gives a response with the rate-limit headers`, async (t) => {
    const key = await world.newKey();
    provider.script(() => behaviour);
    const answer = await gateway.chat(key, FIVE_A_MINUTE);
    t.equal(answer.status, status);
    checkHeaders(t, limitHeaders(answer), 4);
    await answer.text();
  });
}

t.test('a 502 for an unreachable provider and a 409 for a used id have the rate-limit headers', async (t) => {
  const key = await world.newKey();
  const id = newRequestId();
  await readAll(await gateway.chat(key, { 'Service-Request-Id': id }));
  const used = await gateway.chat(key, { ...FIVE_A_MINUTE, 'Service-Request-Id': id });
  t.equal(used.status, 409);
  t.equal(used.headers.get('service-ratelimit-remaining'), '4');
  t.equal(used.headers.get('service-ratelimit-policy'), '5;w=60;u=request');
  await used.text();

  await provider.pause();
  t.teardown(() => provider.resume());
  const unreached = await gateway.chat(key, FIVE_A_MINUTE);
  t.equal(unreached.status, 502);
  checkHeaders(t, limitHeaders(unreached), 3);
  await unreached.text();
});

t.test(
  "a provider's own 429 is relayed with its headers beside the gateway's rate-limit headers",
  async (t) => {
    const key = await world.newKey();
    provider.script(() => ({
      kind: 'error',
      status: 429,
      headers: {
        'retry-after': '7',
        'retry-after-ms': '7000',
        'x-ratelimit-remaining-requests': '0',
        // Only the gateway sets these, whatever a provider sends.
        'service-ratelimit-remaining': '77',
        ratelimit: '"theirs";r=0;t=7',
      },
    }));
    const answer = await gateway.chat(key, FIVE_A_MINUTE);
    t.equal(answer.status, 429);
    t.equal(answer.headers.get('x-ratelimit-remaining-requests'), '0');
    t.equal(answer.headers.get('retry-after-ms'), '7000');
    t.equal(answer.headers.get('retry-after'), '7');
    t.equal(answer.headers.get('service-ratelimit-remaining'), '4');
    t.match(answer.headers.get('ratelimit'), /^"default";r=4;t=6[01]$/);
    t.equal(answer.headers.get('x-should-retry'), null, 'whether to try again is for its clients to decide');
    await answer.text();
  },
);

t.test('a cache hit reports the rate limit and uses no quota', async (t) => {
  const key = await world.newKey();
  const headers = { ...FIVE_A_MINUTE, 'Service-Cache-Enabled': 'true' };
  const first = await gateway.chat(key, headers);
  t.equal(first.headers.get('service-cache'), 'MISS');
  checkHeaders(t, limitHeaders(first), 4);
  await first.text();
  for (let hit = 0; hit < 3; hit += 1) {
    const again = await gateway.chat(key, headers);
    t.equal(again.headers.get('service-cache'), 'HIT');
    checkHeaders(t, limitHeaders(again), 4);
    await again.text();
  }
  // A limit that is not used yet has nothing to reset.
  const another = await gateway.chat(await world.newKey(), headers);
  t.equal(another.headers.get('service-cache'), 'HIT');
  checkHeaders(t, limitHeaders(another), 5);
  t.equal(another.headers.get('service-ratelimit-reset'), '0');
  await another.text();
});

t.test(
  'a limit in cents is reported in cents, the remainder in whole ones, without the standard fields',
  async (t) => {
    const key = await world.newKey();
    const answer = await gateway.chat(key, { 'Service-RateLimit-Policy': '2.50;w=3600;u=cents' });
    t.equal(answer.status, 200);
    const { 'service-ratelimit-reset': reset, ...others } = limitHeaders(answer);
    t.match(reset, /^36\d\d$/);
    t.same(others, {
      'service-ratelimit-limit': '2.5',
      'service-ratelimit-policy': '2.5;w=3600;u=cents',
      'service-ratelimit-remaining': '2',
    });
    await answer.text();
  },
);

t.test('without a policy no response has rate-limit headers', async (t) => {
  const key = await world.newKey();
  for (const answer of [
    await gateway.chat(key),
    await gateway.chat(key, {}, STREAM),
    await gateway.chat(key, { 'Service-Cache-Enabled': 'true' }),
    await gateway.chat(key, { 'Service-Cache-Enabled': 'true' }),
    await gateway.chat(key, {}, { ...CHAT, messages: [{ role: 'user', content: '/status 500' }] }),
    await gateway.chat(key, {}, { ...CHAT, model: 'no-such-model' }),
  ]) {
    t.same(limitHeaders(answer), {}, `status ${answer.status}`);
    await answer.text();
  }
});

t.test('a call over the limit is refused in OpenAI’s error format, with the time to retry', async (t) => {
  const key = await world.newKey();
  const policy = { 'Service-RateLimit-Policy': '1;w=60' };
  await readAll(await gateway.chat(key, policy));
  const calls = provider.requests.length;
  for (const body of [CHAT, STREAM]) {
    const answer = await gateway.chat(key, policy, body);
    const headers = limitHeaders(answer);
    t.equal(answer.status, 429);
    t.match(answer.headers.get('content-type'), /^application\/json/);
    t.same(await answer.json(), {
      error: {
        message:
          'The rate limit 1;w=60;u=request of this API key is used up; Retry-After says in how many seconds one more call will pass',
        type: 'rate_limit_error',
        param: null,
        code: 'rate_limit_exceeded',
      },
    });
    const retryAfter = headers['retry-after'] ?? '';
    t.match(retryAfter, /^\d+$/, 'Retry-After is whole seconds');
    t.ok(
      Number(retryAfter) >= 59 && Number(retryAfter) <= 61,
      `and comes when the window lets go: ${retryAfter}`,
    );
    t.match(headers, {
      'service-ratelimit-limit': '1',
      'service-ratelimit-policy': '1;w=60;u=request',
      'service-ratelimit-remaining': '0',
      'ratelimit-policy': '"default";q=1;w=60',
      ratelimit: `"default";r=0;t=${retryAfter}`,
      'x-should-retry': 'false',
    });
    t.match(headers['service-ratelimit-reset'], /^(59|60|61)$/);
  }
  t.equal(provider.requests.length, calls, 'the provider hears of neither');
});

t.test('a refusal by a limit in cents has the same fields, without the standard ones', async (t) => {
  const key = await world.newKey();
  const policy = { 'Service-RateLimit-Policy': '0.0001;w=60;u=cents' };
  t.equal(
    (await readAll(await gateway.chat(key, policy))).status,
    200,
    'the first call of a window always passes',
  );
  const answer = await gateway.chat(key, policy);
  t.equal(answer.status, 429);
  const { 'retry-after': retryAfter, 'service-ratelimit-reset': reset, ...others } = limitHeaders(answer);
  t.match(retryAfter, /^(59|60|61)$/);
  t.match(reset, /^(59|60|61)$/);
  t.same(others, {
    'service-ratelimit-limit': '0.0001',
    'service-ratelimit-policy': '0.0001;w=60;u=cents',
    'service-ratelimit-remaining': '0',
    'x-should-retry': 'false',
  });
  await answer.text();
});

t.test('the openai client raises its rate-limit error at once, plain and streamed', async (t) => {
  const key = await world.newKey();
  const client = gateway.client(key, { 'Service-RateLimit-Policy': '1;w=60' });
  const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'Hello' }] };
  await client.chat.completions.create(ask);
  for (const stream of [false, true]) {
    await t.rejects(client.chat.completions.create({ ...ask, stream }), {
      constructor: OpenAI.RateLimitError,
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
    });
  }
  const records = await world.records(key, 3);
  t.same(
    records.map(({ status }) => status),
    [200, 429, 429],
    'it asked once each time, although it may try three times',
  );
});

t.test('a call refused by a rate limit is recorded with the response it got', async (t) => {
  const key = await world.newKey();
  const policy = { 'Service-RateLimit-Policy': '1;w=60' };
  await readAll(await gateway.chat(key, policy));
  const refused = await readAll(await gateway.chat(key, policy));
  const [, record] = await world.records(key, 2);
  t.match(record, {
    request_id: refused.headers['service-request-id'],
    status: 429,
    error_code: 'rate_limit_exceeded',
    cost_nano: null,
  });
  t.same(JSON.parse(record!.response_text), JSON.parse(refused.text));
});

t.test('a request id chosen by the caller stays free when its call is refused by a rate limit', async (t) => {
  const key = await world.newKey();
  const policy = { 'Service-RateLimit-Policy': '1;w=60' };
  await readAll(await gateway.chat(key, policy));
  const id = newRequestId();
  const refused = await readAll(await gateway.chat(key, { ...policy, 'Service-Request-Id': id }));
  t.equal(refused.status, 429);
  t.not(refused.headers['service-request-id'], id, 'the refusal has an id of its own');
  const passed = await readAll(await gateway.chat(key, { 'Service-Request-Id': id }));
  t.equal(passed.status, 200);
  t.equal(passed.headers['service-request-id'], id);
  const records = await world.records(key, 3);
  t.equal(records.find(({ request_id }) => request_id === id)?.status, 200);
  t.equal(
    records.find(({ request_id }) => request_id === refused.headers['service-request-id'])?.status,
    429,
    'and is found by it',
  );
});

t.test('rate-limit headers are not sent to the provider, and refused calls do not reach it', async (t) => {
  const key = await world.newKey();
  const before = provider.requests.length;
  const remaining: number[] = [];
  for (let call = 0; call < 4; call += 1) {
    const answer = await gateway.chat(key, { 'Service-RateLimit-Policy': '2;w=60' });
    remaining.push(remainingOf(answer));
    await answer.text();
  }
  t.same(remaining, [1, 0, 0, 0]);
  t.equal(provider.requests.length, before + 2);
  t.equal(provider.requests.at(-1)?.headers['service-ratelimit-policy'], undefined);
});
