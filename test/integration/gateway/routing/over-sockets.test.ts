/** The same over real connections, to providers that fail as providers do. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createProviderClient } from '#platform/http-client/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { Candidate } from '../../../../gateway/providers/resolve.ts';
import {
  type Attempt,
  createAttempts,
  createBreaker,
  type TryHearing,
} from '../../../../gateway/routing/mod.ts';
import { type Behaviour, startScriptedProvider } from '../../../support/scripted-provider.ts';
import { refuse, routeTo } from './world.ts';

const TIMEOUTS = { connectMs: 1_000, firstByteMs: 800, idleMs: 800 };
const ANSWER: Behaviour = { kind: 'answer', text: 'here' };
const BUSY: Behaviour = { kind: 'error', status: 503, message: 'busy' };

/** A provider for each list of behaviours, asked in turn; the last behaviour stays. */
async function setUp(t: Test, ...scripts: Behaviour[][]) {
  const upstream = createProviderClient({
    timeouts: TIMEOUTS,
    now: systemClock.monotonic,
    concurrencyPerOrganization: 1_024,
  });
  t.teardown(() => upstream.close());
  const providers = await Promise.all(
    scripts.map(async (script) => {
      const provider = await startScriptedProvider();
      t.teardown(() => provider.stop());
      const left = [...script];
      provider.script(() => (left.length > 1 ? left.shift()! : left[0]!));
      return provider;
    }),
  );
  const routes = providers.map(({ port }, place) => routeTo(`m${place}`, `http://127.0.0.1:${port}`));
  const send = createAttempts({
    breaker: createBreaker({ clock: systemClock }),
    clock: systemClock,
    random: () => 0.02,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });

  /** Resolves with what the relay hears. */
  const call = (retries = 0) => {
    const attempts: Attempt[] = [];
    const { promise, resolve } = Promise.withResolvers<{ index: number; status: number; body: string }>();
    const tryRoute = (route: Candidate, _: number, hear: TryHearing) =>
      upstream.send({
        label: route.model,
        organizationId: 'acme',
        origin: route.origin,
        path: '/v1/chat/completions',
        headers: ['content-type', 'application/json'],
        body: Buffer.from('{"model":"m","messages":[]}'),
        ...hear,
      });
    const onTried = (tried: Attempt) => attempts.push(tried);
    const abort = send(
      { routes, retries, tryRoute, onTried, refuse, maxHeldBytes: 1_000_000 },
      {
        onStart: ({ status }, index) => {
          const chunks: Buffer[] = [];
          return {
            data: (chunk) => chunks.push(chunk),
            end: () => resolve({ index, status, body: Buffer.concat(chunks).toString() }),
            fail: ({ code }) => resolve({ index, status, body: code }),
          };
        },
        onFailure: ({ code, status }, index) => resolve({ index, status, body: code }),
      },
    );
    return { abort, attempts, heard: promise };
  };
  return { providers, call };
}

t.test('each way to fail leads to the next provider, which answers', async (t) => {
  const failures: [what: string, behaviour: Behaviour, status: number, code: string | null][] = [
    ['an error', BUSY, 503, null],
    ['an error page', { kind: 'html', status: 502 }, 502, null],
    ['a reset connection', { kind: 'reset' }, 0, 'provider_unreachable'],
    ['a connection closed before the headers', { kind: 'cut', at: 'headers' }, 0, 'provider_unreachable'],
    [
      'a connection closed behind the headers',
      { kind: 'bytes', body: '', headers: { 'content-length': '10' }, ending: 'cut' },
      0,
      'provider_unreachable',
    ],
    ['silence', { kind: 'hang' }, 0, 'provider_timeout'],
    [
      'silence behind the headers',
      { kind: 'bytes', body: '', headers: { 'content-length': '10' }, ending: 'stall' },
      0,
      'provider_timeout',
    ],
  ];
  for (const [what, behaviour, status, errorCode] of failures) {
    const { call } = await setUp(t, [behaviour], [ANSWER]);
    const { heard, attempts } = call();
    t.match(await heard, { index: 1, status: 200, body: /"here"/ }, what);
    t.match(
      attempts,
      [
        { model: 'm0', status, errorCode },
        { model: 'm1', status: 200, errorCode: null },
      ],
      what,
    );
  }
});

t.test('a provider that nobody listens for is fallen back from, and retried', async (t) => {
  const { providers, call } = await setUp(t, [ANSWER], [ANSWER]);
  await providers[0]!.pause();
  t.match(await call().heard, { index: 1, status: 200 });
  const retried = call(1);
  t.match(await retried.heard, { index: 1, status: 200 });
  t.same(
    retried.attempts.map(({ model, status }) => [model, status]),
    [
      ['m0', 0],
      ['m0', 0],
      ['m1', 200],
    ],
  );
});

t.test('an answer that is discarded is hung up on, and its body not waited for', async (t) => {
  const endless: Behaviour = {
    kind: 'bytes',
    status: 503,
    body: 'x'.repeat(400),
    chunking: { bytesEach: 1, everyMs: 50 },
  };
  const { providers, call } = await setUp(t, [endless], [ANSWER]);
  const startedAt = performance.now();
  t.match(await call().heard, { index: 1, status: 200 });
  t.ok(performance.now() - startedAt < 5_000);
  await providers[0]!.requests[0]!.ended;
  t.ok(providers[0]!.requests[0]!.aborted);
});

t.test('the same provider is asked again, and its last error comes with its bytes', async (t) => {
  const { providers, call } = await setUp(t, [BUSY, { kind: 'reset' }, ANSWER]);
  t.match(await call(2).heard, { status: 200, body: /"here"/ });
  t.equal(providers[0]!.requests.length, 3);
  const { call: callBusy } = await setUp(t, [BUSY]);
  const busy = callBusy(2);
  t.match(await busy.heard, { status: 503, body: /"busy"/ });
  t.equal(busy.attempts.length, 3);
});

t.test('Retry-After is waited for', async (t) => {
  const limited: Behaviour = { kind: 'error', status: 429, headers: { 'retry-after-ms': '200' } };
  const { providers, call } = await setUp(t, [limited, ANSWER]);
  t.match(await call(1).heard, { status: 200 });
  const [first, second] = providers[0]!.requests;
  const waitedMs = second!.receivedAtMs - first!.receivedAtMs;
  t.ok(waitedMs >= 200, `waited ${waitedMs.toFixed(0)} ms`);
});

t.test('a client that leaves stops the call under way, and no other follows', async (t) => {
  const { providers, call } = await setUp(t, [{ kind: 'hang' }], [ANSWER]);
  const { abort, attempts } = call(3);
  while (providers[0]!.requests.length === 0) await sleep(5);
  const leftAt = performance.now();
  abort();
  t.match(attempts, [{ model: 'm0', status: 0, errorCode: 'client_closed_request' }]);
  await providers[0]!.requests[0]!.ended;
  t.ok(providers[0]!.requests[0]!.abortedAtMs! - leftAt < 5_000, 'at once');
  await sleep(400);
  t.equal(providers[0]!.requests.length + providers[1]!.requests.length, 1);
});
