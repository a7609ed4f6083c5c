import { type AddressInfo, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { createProxyChoice, parseProxyAddress } from '#platform/proxy/mod.ts';
import type { JudgeClient, JudgeClientOptions } from '../../../../evaluators/llm/client.ts';
import { judge } from '../../../../evaluators/llm/judge.ts';
import { createJudgeClient } from '../../../../evaluators/llm/mod.ts';
import { startConnectProxy } from '../../../support/connect-proxy.ts';
import { freePort } from '../../../support/free-port.ts';
import { SCALES } from '../../../support/judge/judge-answers.ts';
import { SUBJECT, verdict } from '../../../support/judge/scripted-judge.ts';
import { startScriptedProvider } from '../../../support/scripted-provider.ts';
import { scriptedProvider } from '../../../support/world.ts';

const MIB = 1_048_576;
/** A server in place of the gateway. */
const gateway = await scriptedProvider(t);

function edge(more: Partial<JudgeClientOptions> = {}): JudgeClient {
  const made = createJudgeClient({
    gatewayUrl: `http://127.0.0.1:${gateway.port}`,
    internalHeaders: (organizationId, evaluationId) => ({
      'x-internal': `${organizationId}/${evaluationId}`,
    }),
    timeouts: { connectMs: 5_000, firstByteMs: 5_000, totalMs: 5_000 },
    clock: systemClock,
    ...more,
  });
  t.teardown(() => made.close());
  return made;
}

const asks = (from: JudgeClient, signal?: AbortSignal) =>
  judge({
    ...SCALES.range,
    evaluatorName: 'Politeness',
    subject: SUBJECT,
    session: from.sessionFor('org', '7'),
    ...(signal === undefined ? {} : { signal }),
  });

const shared = edge();
const lastCall = () => gateway.requests.at(-1)!;

t.test('a judge is called through the gateway, with the headers of its evaluation', async (t) => {
  gateway.script(() => ({
    kind: 'bytes',
    body: verdict(4),
    headers: { 'content-type': 'application/json', 'service-request-id': '01JAZZ0000000000000000000B' },
  }));
  const { outcome, use } = await asks(shared);
  t.match(outcome, { state: 'completed', score: 4 });
  t.match(use, { calls: 1, requestIds: ['01JAZZ0000000000000000000B'] });
  t.ok(use !== null && use.latencyMs >= 0 && use.latencyMs < 30_000);
  t.equal(lastCall().path, '/v1/chat/completions');
  t.match(lastCall().headers, { 'x-internal': 'org/7', 'content-type': 'application/json' });
  t.match(JSON.parse(lastCall().body.toString()), { model: 'judge', tool_choice: {} });
});

t.test("a path in the gateway's URL is kept", async (t) => {
  await asks(edge({ gatewayUrl: `http://127.0.0.1:${gateway.port}/assay/` }));
  t.equal(lastCall().path, '/assay/v1/chat/completions');
});

t.test("a judge's compressed response is decompressed", async (t) => {
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd'] as const) {
    gateway.script(() => ({
      kind: 'answer',
      toolCalls: [{ name: 'submit_verdict', arguments: '{"score":3}' }],
      encoding,
    }));
    t.match(await asks(shared), { outcome: { state: 'completed', score: 3 } }, encoding);
  }
});

t.test("a judge's unsuccessful response carries the delay that its headers ask for", async (t) => {
  const delayOf = async (headers: Record<string, string>) => {
    gateway.script(() => ({ kind: 'error', status: 429, headers }));
    const { outcome } = await asks(shared);
    return outcome.state === 'failed' && outcome.code === 'judge_rate_limited'
      ? outcome.retryAfterMs
      : outcome;
  };
  t.equal(await delayOf({ 'retry-after': '7' }), 7_000);
  t.equal(await delayOf({ 'retry-after': '0.5' }), 500);
  t.equal(await delayOf({ 'retry-after': '7', 'retry-after-ms': '6500' }), 6_500);
  t.equal(await delayOf({ 'retry-after': 'soon' }), null);
  t.equal(await delayOf({}), null);
  const inAMinute = await delayOf({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
  t.ok(typeof inAMinute === 'number' && inAMinute > 50_000 && inAMinute <= 60_000, String(inAMinute));
  t.equal(await delayOf({ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }), 0);
  gateway.script(() => ({ kind: 'html', status: 503 }));
  t.match(await asks(shared), { outcome: { code: 'judge_unavailable', retry: 'later' } });
});

t.test('an HTML page in place of a completion is judge_malformed after a second call', async (t) => {
  gateway.script(() => ({ kind: 'html', status: 200, body: '<html>4</html>' }));
  const before = gateway.requests.length;
  t.match(await asks(shared), { outcome: { code: 'judge_malformed', retry: 'never' }, use: { calls: 2 } });
  t.equal(gateway.requests.length, before + 2);
});

t.test("invalid UTF-8 in a judge's response becomes replacement characters", async (t) => {
  const [head, tail] = verdict(2, 'caf\u00e9').split('\u00e9');
  gateway.script(() => ({
    kind: 'bytes',
    body: Buffer.concat([Buffer.from(head!), Buffer.from([0xe9]), Buffer.from(tail!)]),
  }));
  t.match(await asks(shared), { outcome: { state: 'completed', score: 2, reasoning: 'caf\ufffd' } });
});

t.test("a judge's response that breaks off fails with judge_unavailable, to be tried later", async (t) => {
  for (const behaviour of [
    { kind: 'cut', at: 'headers' },
    { kind: 'cut', at: 'body' },
    { kind: 'reset' },
    { kind: 'wrong-length', by: 40 },
    { kind: 'bytes', body: '{"choices":[', ending: 'cut' },
  ] as const) {
    gateway.script(() => behaviour);
    t.match(
      await asks(shared),
      { outcome: { code: 'judge_unavailable', retry: 'later', pause: null }, use: { calls: 1 } },
      JSON.stringify(behaviour),
    );
  }
});

t.test('a gateway that refuses connections fails with judge_unavailable, to be tried later', async (t) => {
  const nowhere = edge({ gatewayUrl: `http://127.0.0.1:${await freePort()}` });
  t.match(await asks(nowhere), { outcome: { code: 'judge_unavailable', retry: 'later' } });
});

t.test('a judge that sends nothing, stalls or drips fails with judge_timeout in time', async (t) => {
  const drip = { body: verdict(4), chunking: { bytesEach: 1, everyMs: 40 } };
  const cases = [
    ['no headers', { connectMs: 5_000, firstByteMs: 300, totalMs: 60_000 }, { kind: 'hang' }],
    ['no headers, by the total', { connectMs: 5_000, firstByteMs: 60_000, totalMs: 300 }, { kind: 'hang' }],
    [
      'a stalled body',
      { connectMs: 5_000, firstByteMs: 60_000, totalMs: 300 },
      { kind: 'bytes', body: '{"ch', ending: 'stall' },
    ],
    ['a dripping body', { connectMs: 5_000, firstByteMs: 60_000, totalMs: 300 }, { kind: 'bytes', ...drip }],
  ] as const;
  await Promise.all(
    cases.map(async ([name, timeouts, behaviour]) => {
      const server = await startScriptedProvider();
      server.script(() => behaviour);
      const startedMs = performance.now();
      const { outcome, use } = await asks(edge({ gatewayUrl: `http://127.0.0.1:${server.port}`, timeouts }));
      const tookMs = performance.now() - startedMs;
      t.match(outcome, { code: 'judge_timeout', retry: 'later' }, name);
      t.equal(use?.calls, 1, name);
      t.ok(tookMs >= 250 && tookMs < 30_000, `${name}: ${tookMs} ms`);
      await server.requests[0]?.ended;
      t.equal(server.requests[0]?.aborted, true, `${name}: the connection was closed`);
      await server.stop();
    }),
  );
});

t.test(
  'a remote gateway is called through the proxy, an exempt one or one on this machine directly',
  async (t) => {
    const proxy = await startConnectProxy(t, { hosts: { 'gateway.test': gateway.port } });
    const proxyFor = createProxyChoice({
      https: null,
      http: parseProxyAddress(`127.0.0.1:${proxy.port}`),
      noProxy: 'exempt.test',
    });
    gateway.script(() => ({
      kind: 'bytes',
      body: verdict(4),
      headers: { 'content-type': 'application/json' },
    }));
    const stateAt = async (gatewayUrl: string) => (await asks(edge({ gatewayUrl, proxyFor }))).outcome.state;
    t.equal(await stateAt('http://gateway.test:8787'), 'completed');
    t.equal(lastCall().headers.host, 'gateway.test:8787');
    t.equal(await stateAt(`http://127.0.0.1:${gateway.port}`), 'completed');
    t.equal(await stateAt('http://exempt.test:8787'), 'failed');
    t.same(
      proxy.requests.map(({ authority }) => authority),
      ['gateway.test:8787'],
    );
  },
);

t.test(
  'a call through a proxy that opens no tunnel ends in time, through one that refuses at once',
  async (t) => {
    const proxy = await startConnectProxy(t);
    const proxyFor = () => parseProxyAddress(`127.0.0.1:${proxy.port}`);
    const timeouts = { connectMs: 1_000, firstByteMs: 60_000, totalMs: 60_000 };
    const outcomeAt = async () =>
      (await asks(edge({ gatewayUrl: 'http://gateway.test', timeouts, proxyFor }))).outcome;
    proxy.fault({ kind: 'hang' });
    t.match(await outcomeAt(), { code: 'judge_timeout', retry: 'later' });
    proxy.fault({ kind: 'refuse', status: 403 });
    t.match(await outcomeAt(), { code: 'judge_unavailable', retry: 'later' });
  },
);

t.test('a call to an address where no host answers ends in time', async (t) => {
  const timeouts = { connectMs: 300, firstByteMs: 60_000, totalMs: 60_000 };
  const startedMs = performance.now();
  // TEST-NET-1 has no hosts. A network that reports that at once refuses the call before its timeout.
  const { outcome } = await asks(edge({ gatewayUrl: 'http://192.0.2.1:9', timeouts }));
  t.match(outcome, { code: /^judge_(?:timeout|unavailable)$/, retry: 'later' });
  t.ok(performance.now() - startedMs < 30_000);
});

t.test("a judge's response of 50 MB, or without end, is cut off at 1 MB", async (t) => {
  const body = Buffer.alloc(50 * MIB, 0x20);
  gateway.script(() => ({ kind: 'bytes', body, chunking: { bytesEach: MIB } }));
  t.match(await asks(shared), { outcome: { code: 'judge_too_large', retry: 'never' }, use: { calls: 1 } });
  await lastCall().ended;
  t.equal(lastCall().aborted, true);
});

t.test("a judge's response that decompresses to more than 1 MB is refused", async (t) => {
  gateway.script(() => ({ kind: 'answer', text: ' '.repeat(20 * MIB), encoding: 'gzip' }));
  t.match(await asks(shared), { outcome: { code: 'judge_too_large' } });
});

t.test("an aborted attempt closes its judge's connection", async (t) => {
  gateway.script(() => ({ kind: 'hang' }));
  const stop = new AbortController();
  const before = gateway.requests.length;
  const asking = asks(shared, stop.signal);
  while (gateway.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  t.match(await asking, { outcome: { code: 'worker_lost', retry: 'later' }, use: { calls: 1 } });
  await lastCall().ended;
  t.equal(lastCall().aborted, true);
});

t.test('one judge client makes many calls at once', async (t) => {
  gateway.script((request) => {
    const [, score] = /score (\d)/.exec(request.body.toString()) ?? [];
    return {
      kind: 'answer',
      delayMs: 20,
      toolCalls: [{ name: 'submit_verdict', arguments: `{"score":${score}}` }],
    };
  });
  const scores = await Promise.all(
    Array.from({ length: 200 }, async (_, number) => {
      const { outcome } = await judge({
        ...SCALES.range,
        evaluatorName: 'x',
        subject: { ...SUBJECT, output: `score ${(number % 5) + 1}` },
        session: shared.sessionFor('org', String(number)),
      });
      return outcome.state === 'completed' ? outcome.score : outcome.state;
    }),
  );
  t.same(
    scores,
    Array.from({ length: 200 }, (_, number) => (number % 5) + 1),
  );
});

t.test(
  'a judge call that is lost on a reused connection is sent again at once and counts once',
  async (t) => {
    let connections = 0;
    let lost = 0;
    const server = createServer((socket) => {
      connections += 1;
      let requests = 0;
      socket.on('error', () => {});
      let received = '';
      socket.on('data', (bytes) => {
        received += bytes.toString();
        // Head and body may arrive in separate chunks.
        if (!received.endsWith('}')) return;
        received = '';
        requests += 1;
        const body = verdict(connections);
        if (requests > 1) {
          lost += 1;
          socket.resetAndDestroy();
        } else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const lossy = edge({ gatewayUrl: `http://127.0.0.1:${port}` });
    t.teardown(async () => {
      await lossy.close();
      server.close();
    });
    t.match(await asks(lossy), { outcome: { state: 'completed', score: 1 }, use: { calls: 1 } });
    await setImmediate(); // undici reuses a connection one turn of the event loop later
    t.match(await asks(lossy), { outcome: { state: 'completed', score: 2 }, use: { calls: 1 } });
    t.equal(lost, 1);
  },
);
