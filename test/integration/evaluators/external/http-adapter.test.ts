import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import t from 'tap';
import type { HttpConfig } from '#core/contracts/external.ts';
import { createOutbound, parseAllowList } from '#platform/outbound/mod.ts';
import { runExternalMany } from '../../../../evaluators/external/mod.ts';
import { clock, evaluator, NOW_MS, outcomeOf, startService, subjectOf } from './world.ts';

type Answer = { status?: number; headers?: Record<string, string>; body: string | Buffer };
const give = (answer: Answer) => (_: unknown, response: ServerResponse) => {
  response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
};

t.test('a scoring service is posted the request, its answer and the evaluator', async (t) => {
  const { url, received, outbound } = await startService(
    t,
    give({ body: '{"score": 0.75, "reasoning": "near", "more": 1}' }),
  );
  const outcome = await outcomeOf({
    config: { adapter: 'http', url, headers: { authorization: '[secret]', 'x-team': '[secret]' } },
    secrets: { 'headers.authorization': 'Bearer t-123456789', 'headers.x-team': 'blue' },
    outbound,
  });
  t.same(outcome, {
    state: 'completed',
    score: 0.75,
    label: null,
    reasoning: 'near',
    traces: null,
    flags: [],
  });
  const [{ headers, body, url: path }] = received as [(typeof received)[0]];
  t.equal(path, '/score');
  t.match(headers, {
    authorization: 'Bearer t-123456789',
    'x-team': 'blue',
    'content-type': 'application/json',
    'webhook-id': 'evaluation_42',
    'webhook-timestamp': String(Math.floor(NOW_MS / 1_000)),
  });
  t.notOk('webhook-signature' in headers);
  const { requestId, ...rest } = subjectOf();
  t.same(JSON.parse(body), {
    type: 'evaluation.requested',
    timestamp: '2026-11-21T12:00:00.750Z',
    data: { evaluation_id: '42', evaluator, request: { id: requestId, ...rest } },
  });
});

t.test('a service may answer a finite number, true or false as the score, and nothing else', async (t) => {
  const scores: [string, number][] = [
    ['{"score":0}', 0],
    ['{"score":-3.5}', -3.5],
    ['{"score":1e300}', 1e300],
    ['{"score":true}', 1],
    ['{"score":false,"reasoning":null}', 0],
    [' \n{"score":7.5}\n', 7.5],
  ];
  for (const [body, score] of scores) {
    const { url, outbound } = await startService(t, give({ body, status: 201 }));
    t.match(
      await outcomeOf({ config: { adapter: 'http', url }, outbound }),
      { state: 'completed', score },
      body,
    );
  }
  const bad: (string | Buffer)[] = [
    '',
    ' ',
    'null',
    '[]',
    '[0.5]',
    '0.5',
    '"0.5"',
    '{}',
    '{"score":null}',
    '{"score":"1"}',
    '{"score":NaN}',
    '{"score":1e999}',
    '{"score":[1]}',
    '{"score":1,"reasoning":5}',
    '{"score":1',
    '{"score":1}x',
    '<html>down for maintenance</html>',
    Buffer.from([0x7b, 0xff, 0x7d]),
    Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
  ];
  for (const body of bad) {
    const { url, outbound } = await startService(t, give({ body }));
    t.match(
      await outcomeOf({ config: { adapter: 'http', url }, outbound }),
      { state: 'failed', code: 'ext_bad_answer', retry: 'never', pause: null, retryAfterMs: null },
      String(body),
    );
  }
});

t.test("each status of a service's response has its error code", async (t) => {
  const later = { retry: 'later', pause: null };
  const never = { retry: 'never', pause: null };
  const cases: [number, Record<string, string>, object][] = [
    [400, {}, { code: 'ext_rejected', ...never }],
    [401, {}, { code: 'ext_unauthorized', pause: 'auth' }],
    [402, {}, { code: 'ext_billing', pause: 'billing' }],
    [403, {}, { code: 'ext_unauthorized', pause: 'auth' }],
    [404, {}, { code: 'ext_rejected', ...never }],
    [408, {}, { code: 'ext_timeout', ...later }],
    [410, {}, { code: 'ext_rejected', ...never }],
    [422, {}, { code: 'ext_rejected', ...never }],
    [429, {}, { code: 'ext_rate_limited', ...later, retryAfterMs: null }],
    [429, { 'retry-after': '7' }, { code: 'ext_rate_limited', ...later, retryAfterMs: 7_000 }],
    [429, { 'retry-after': '999999' }, { code: 'ext_rate_limited', retryAfterMs: 3_600_000 }],
    [429, { 'retry-after': 'Sat, 21 Nov 2026 12:00:03 GMT' }, { retryAfterMs: 2_250 }],
    [429, { 'retry-after': 'Sat, 21 Nov 2020 12:00:03 GMT' }, { retryAfterMs: 0 }],
    [429, { 'retry-after': '-5' }, { retryAfterMs: null }],
    [429, { 'retry-after': 'soon' }, { retryAfterMs: null }],
    [500, {}, { code: 'ext_unavailable', ...later }],
    [502, {}, { code: 'ext_unavailable', ...later }],
    [503, { 'retry-after': '1.5' }, { code: 'ext_unavailable', ...later, retryAfterMs: 1_500 }],
    [301, { location: 'http://169.254.169.254/' }, { code: 'ext_forbidden_url', ...never }],
    [307, { location: 'http://localhost/' }, { code: 'ext_forbidden_url', ...never }],
    [302, { location: 'https://example.com/' }, { code: 'ext_forbidden_url', ...never }],
  ];
  for (const [status, headers, expected] of cases) {
    const { url, outbound } = await startService(t, give({ status, headers, body: '{"score":1}' }));
    const outcome = await outcomeOf({ config: { adapter: 'http', url }, outbound });
    t.match(outcome, { state: 'failed', traces: null, ...expected }, `${status} ${JSON.stringify(headers)}`);
  }
});

t.test(
  'a service that never answers, answers too much or cannot be reached has its error code',
  async (t) => {
    const { url, outbound } = await startService(t, () => {});
    t.match(await outcomeOf({ config: { adapter: 'http', url, timeoutMs: 200 }, outbound }), {
      code: 'ext_timeout',
      retry: 'later',
    });
    const huge = await startService(t, give({ body: `{"score":1,"reasoning":"${'x'.repeat(2_000_000)}"}` }));
    t.match(await outcomeOf({ config: { adapter: 'http', url: huge.url }, outbound: huge.outbound }), {
      code: 'ext_too_large',
      retry: 'never',
    });
    const plain = url.replace('http:', 'https:');
    t.match(await outcomeOf({ config: { adapter: 'http', url: plain, timeoutMs: 1_000 }, outbound }), {
      state: 'failed',
      retry: 'later',
    });
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    t.match(await outcomeOf({ config: { adapter: 'http', url: `http://127.0.0.1:${port}` }, outbound }), {
      code: 'ext_unavailable',
      retry: 'later',
    });
  },
);

t.test('an address that is no longer allowed is refused when the service is called', async (t) => {
  const { url, received } = await startService(t, give({ body: '{"score":1}' }));
  const parsed = parseAllowList([]);
  if ('badEntry' in parsed) throw new Error(parsed.badEntry);
  const outbound = createOutbound({ allow: parsed.allow });
  t.teardown(() => outbound.close());
  for (const forbidden of [url, 'file:///etc/passwd', 'gopher://example.com/', 'http://169.254.169.254/']) {
    const config: HttpConfig = { adapter: 'http', url: forbidden };
    t.match(await outcomeOf({ config, outbound }), {
      code: 'ext_forbidden_url',
      retry: 'never',
      pause: null,
    });
  }
  t.equal(received.length, 0);
});

t.test(
  'a secret that a service quotes is masked in messages and in reasoning, however it is encoded',
  async (t) => {
    const secrets = {
      secret: 'whsec_c2VjcmV0LWtleS1vZi0yNC1ieXRlcyEh',
      'headers.authorization': 'Bearer super"secret\\token',
      'headers.x-key': 'k3y',
    };
    const told = [
      'Bearer super"secret\\token',
      'super"secret\\token',
      'k3y',
      secrets.secret,
      secrets.secret.slice(6),
    ];
    const canaries = /super|token|k3y|c2VjcmV0/;
    const config: HttpConfig = {
      adapter: 'http',
      url: '',
      secret: '[secret]',
      headers: { authorization: '[secret]', 'x-key': '[secret]' },
    };
    for (const echoed of [told.join(' and '), JSON.stringify(told), told.map(encodeURIComponent).join('&')]) {
      const padding = 'x'.repeat(430);
      for (const body of [echoed, `${padding}${echoed}`, JSON.stringify({ error: echoed })]) {
        for (const status of [200, 400, 401, 500]) {
          const { url, outbound } = await startService(t, give({ status, body }));
          const outcome = await outcomeOf({ config: { ...config, url }, secrets, outbound });
          t.notMatch(JSON.stringify(outcome), canaries, `${status}`);
        }
      }
      const { url, outbound } = await startService(
        t,
        give({ body: JSON.stringify({ score: 1, reasoning: echoed }) }),
      );
      const outcome = await outcomeOf({ config: { ...config, url }, secrets, outbound });
      t.equal(outcome.state, 'completed');
      t.notMatch(JSON.stringify(outcome), canaries);
    }
  },
);

t.test(
  'a message has one line of at most 500 characters, a reasoning at most 4 KB that Postgres can store',
  async (t) => {
    const message = await startService(
      t,
      give({ status: 400, body: `\u0000\u001b[31m\n${'é'.repeat(5_000)}` }),
    );
    const failed = await outcomeOf({
      config: { adapter: 'http', url: message.url },
      outbound: message.outbound,
    });
    if (failed.state !== 'failed') return t.fail('should fail');
    t.ok(failed.message.length <= 500 && failed.message.startsWith('The service answered with status 400'));
    t.notMatch(failed.message, /\p{Cc}/u);
    for (const reasoning of ['😀'.repeat(2_000), 'é'.repeat(4_000), 'x'.repeat(5_000)]) {
      const service = await startService(t, give({ body: JSON.stringify({ score: 1, reasoning }) }));
      const outcome = await outcomeOf({
        config: { adapter: 'http', url: service.url },
        outbound: service.outbound,
      });
      if (outcome.state !== 'completed') return t.fail('should complete');
      const bytes = Buffer.byteLength(outcome.reasoning ?? '');
      t.ok(bytes <= 4_096 && bytes > 4_090, `${bytes} bytes`);
      t.ok(reasoning.startsWith(outcome.reasoning ?? '-'));
    }
    const odd = await startService(t, give({ body: '{"score":1,"reasoning":"a\\u0000b\\ud800c"}' }));
    t.match(await outcomeOf({ config: { adapter: 'http', url: odd.url }, outbound: odd.outbound }), {
      reasoning: 'a\ufffdb\ufffdc',
    });
  },
);

t.test('a record that is too large or nested too deep is not sent to the service', async (t) => {
  const { url, received, outbound } = await startService(t, give({ body: '{"score":1}' }));
  const run = (subject: object) => outcomeOf({ config: { adapter: 'http', url }, outbound, subject });
  t.match(await run({ output: 'x'.repeat(9 * 1024 * 1024) }), { code: 'input_too_large', retry: 'never' });
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  t.match(await run({ response: deep }), { code: 'input_too_large', retry: 'never' });
  t.equal(received.length, 0);
});

t.test('a defect of the adapter rejects with a message in which secrets are masked', async (t) => {
  const { outbound } = await startService(t, () => {});
  await t.rejects(
    runExternalMany({
      config: { adapter: 'http', url: 'http://127.0.0.1/' },
      secrets: { 'headers.x-key': 'k-123456' },
      evaluator,
      items: [{ subject: subjectOf(), evaluationId: '1' }],
      outbound: { ...outbound, post: () => Promise.reject(new Error('lost k-123456')) },
      clock,
    }),
    { message: 'lost [secret]' },
  );
});

t.test('an aborted signal rejects the call to a service with its reason', async (t) => {
  const { url, outbound } = await startService(t, () => {});
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('shutting down')), 50);
  await t.rejects(
    runExternalMany({
      config: { adapter: 'http', url },
      secrets: {},
      evaluator,
      items: [{ subject: subjectOf(), evaluationId: '1' }],
      outbound,
      clock,
      signal: stop.signal,
    }),
    { message: 'shutting down' },
  );
});
