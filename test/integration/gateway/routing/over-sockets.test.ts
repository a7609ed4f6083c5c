/** The same over real connections, to providers that fail as providers do. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import { createProviderClient } from '#platform/http-client/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createAttemptLoop, createCircuitBreaker } from '../../../../gateway/routing/mod.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { scriptedProvider } from '../../../support/world.ts';
import { candidateOf, refuse, watch } from './world.ts';

const TIMEOUTS = { connectMs: 1_000, firstByteMs: 800, idleMs: 800 };
const ANSWER: Behaviour = { kind: 'answer', text: 'here' };
const BUSY: Behaviour = { kind: 'error', status: 503, message: 'busy' };

/** A provider for each list of behaviours, asked in turn; the last behaviour stays. */
async function setUp(t: Test, ...scripts: Behaviour[][]) {
  const client = createProviderClient({
    timeouts: TIMEOUTS,
    now: systemClock.monotonic,
    concurrencyPerOrganization: 1_024,
  });
  t.teardown(() => client.close());
  const providers = await Promise.all(
    scripts.map(async (script) => {
      const provider = await scriptedProvider(t);
      const left = [...script];
      provider.script(() => (left.length > 1 ? left.shift()! : left[0]!));
      return provider;
    }),
  );
  const candidates = providers.map(({ port }, place) => candidateOf(`m${place}`, `http://127.0.0.1:${port}`));
  const attemptLoop = createAttemptLoop({
    breaker: createCircuitBreaker({ clock: systemClock }),
    clock: systemClock,
    random: () => 0.02,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
  });

  /** `heard` resolves with what the client gets. */
  const call = (retries = 0) => {
    const leaving = new AbortController();
    const send = async (index: number, signal: AbortSignal) => {
      const { model, origin } = candidates[index]!;
      const response = await client.send(
        {
          label: model,
          organizationId: 'acme',
          origin,
          path: '/v1/chat/completions',
          headers: ['content-type', 'application/json'],
          body: Buffer.from('{"model":"m","messages":[]}'),
        },
        signal,
      );
      return { response, countsAs: response.status, isStored: false };
    };
    const attempted = attemptLoop(
      { candidates, retries, send, refuse, watch, maxHeldBytes: 1_000_000 },
      leaving.signal,
    );
    const heard = attempted.then(async ({ index, attempts, result }) => {
      if (result instanceof AssayError)
        return { index, attempts, status: httpStatusOf(result), body: result.code };
      const gathered = await result.body.gather(() => false, leaving.signal);
      const body = gathered instanceof AssayError ? gathered.code : result.body.held.toString();
      return { index, attempts, status: result.status, body };
    });
    return { abort: () => leaving.abort(), heard };
  };
  return { providers, call };
}

t.test('over sockets, each kind of failure leads to the next provider', async (t) => {
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
    const attempts = [
      { model: 'm0', status, errorCode },
      { model: 'm1', status: 200, errorCode: null },
    ];
    t.match(await call().heard, { index: 1, status: 200, body: /"here"/, attempts }, what);
  }
});

t.test('an unreachable provider leads to a retry and to the next provider', async (t) => {
  const { providers, call } = await setUp(t, [ANSWER], [ANSWER]);
  await providers[0]!.pause();
  t.match(await call().heard, { index: 1, status: 200 });
  const retried = await call(1).heard;
  t.match(retried, { index: 1, status: 200 });
  t.same(
    retried.attempts.map(({ model, status }) => [model, status]),
    [
      ['m0', 0],
      ['m0', 0],
      ['m1', 200],
    ],
  );
});

t.test('a discarded error response is disconnected without waiting for its body', async (t) => {
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

t.test('a retried call gets the last error of its provider, byte for byte', async (t) => {
  const { providers, call } = await setUp(t, [BUSY, { kind: 'reset' }, ANSWER]);
  t.match(await call(2).heard, { status: 200, body: /"here"/ });
  t.equal(providers[0]!.requests.length, 3);
  const { call: callBusy } = await setUp(t, [BUSY]);
  const busy = await callBusy(2).heard;
  t.match(busy, { status: 503, body: /"busy"/ });
  t.equal(busy.attempts.length, 3);
});

t.test('over sockets, a retry waits for Retry-After', async (t) => {
  const limited: Behaviour = { kind: 'error', status: 429, headers: { 'retry-after-ms': '200' } };
  const { providers, call } = await setUp(t, [limited, ANSWER]);
  t.match(await call(1).heard, { status: 200 });
  const [first, second] = providers[0]!.requests;
  const waitedMs = second!.receivedAtMs - first!.receivedAtMs;
  t.ok(waitedMs >= 200, `waited ${waitedMs.toFixed(0)} ms`);
});

t.test('a client that disconnects stops the attempt under way, and no other follows', async (t) => {
  const { providers, call } = await setUp(t, [{ kind: 'hang' }], [ANSWER]);
  const { abort, heard } = call(3);
  while (providers[0]!.requests.length === 0) await sleep(5);
  const leftAt = performance.now();
  abort();
  const attempts = [{ model: 'm0', status: 0, errorCode: 'client_closed_request' }];
  t.match(await heard, { body: 'client_closed_request', attempts });
  await providers[0]!.requests[0]!.ended;
  t.ok(providers[0]!.requests[0]!.abortedAtMs! - leftAt < 5_000, 'at once');
  await sleep(400);
  t.equal(providers[0]!.requests.length + providers[1]!.requests.length, 1);
});
