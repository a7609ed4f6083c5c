import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { addressOf } from '../../../../gateway/routing/circuit-breaker.ts';
import { createAttemptLoop, createCircuitBreaker } from '../../../../gateway/routing/mod.ts';
import {
  type CallOptions,
  candidateOf,
  type Ending,
  PAGE,
  PLAIN,
  refuse,
  startCall,
  Time,
} from '../../../integration/gateway/routing/world.ts';

/** What the breaker knows the model `a` by. */
const A = addressOf(candidateOf('a'));
const OK: Ending = { status: 200 };
const UNREACHABLE: Ending = { fails: 'provider_unreachable' };
const TIMEOUT: Ending = { fails: 'provider_timeout' };
const BUSY: Ending = { status: 503 };
const LIMITED: Ending = { status: 429, headers: { 'retry-after': '2' } };
const LIMITED_LONG: Ending = { status: 429, headers: { 'retry-after': '30' } };

/** `random` is a half, so the waits are 250, 500, 1,000 ms… and what the provider asks for on top. */
const TABLE: [what: string, options: CallOptions, events: string][] = [
  ['a call to one model is passed on', { script: { a: [OK] } }, 'try a, 200 of a, byte, end'],
  ['so is its failure', { script: { a: [UNREACHABLE] } }, 'try a, provider_unreachable of a'],
  ['and its error', { script: { a: [BUSY] } }, 'try a, 503 of a, byte, end'],
  [
    'the next model is not called when the first answers',
    { script: { a: [OK], b: [] } },
    'try a, 200 of a, byte, end',
  ],
  [
    'the next model is called when the first cannot be reached',
    { script: { a: [UNREACHABLE], b: [OK] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'an error is discarded unread when there is a next model',
    { script: { a: [BUSY], b: [OK] } },
    'try a, stop a, try b, 200 of b, byte, end',
  ],
  [
    'of several failures the last is the answer: a provider’s error with its bytes',
    { script: { a: [TIMEOUT], b: [BUSY] } },
    'try a, try b, 503 of b, byte, end',
  ],
  [
    'what is no answer is not passed on when there is a next model, though it came whole',
    { script: { a: [{ status: 200, headers: PAGE }], b: [{ status: 302, headers: PAGE }], c: [OK] } },
    'try a, try b, try c, 200 of c, byte, end',
  ],
  [
    'and is the answer of the last one, for the relay to tell',
    { script: { a: [TIMEOUT], b: [{ status: 200, headers: PAGE }] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'it is not tried again at the same model',
    { script: { a: [{ status: 200, headers: PAGE }] }, retries: 2 },
    'try a, provider_bad_answer of a',
  ],
  [
    'an answer in one piece that breaks off after its first byte was none',
    { script: { a: [{ breaksOffLate: 'provider_unreachable', headers: PLAIN }], b: [OK] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'but one that is too large to be held is passed on before its end',
    { script: { a: [{ breaksOffLate: 'provider_unreachable', headers: PLAIN }], b: [] }, maxHeldBytes: 0 },
    'try a, 200 of a, byte, broken: provider_unreachable',
  ],
  ['or one of ours', { script: { a: [BUSY], b: [TIMEOUT] } }, 'try a, stop a, try b, provider_timeout of b'],
  [
    'what the caller did wrong is answered at once',
    { script: { a: [{ status: 400 }], b: [] } },
    'try a, 400 of a, byte, end',
  ],
  [
    'an account or a model that one provider refuses is tried at the next',
    { script: { a: [{ status: 401 }], b: [{ status: 404 }], c: [OK] } },
    'try a, stop a, try b, stop b, try c, 200 of c, byte, end',
  ],
  [
    'without a wish for retries nothing is tried twice',
    { script: { a: [BUSY] }, retries: 0 },
    'try a, 503 of a, byte, end',
  ],
  [
    'with it the same model is tried again, after a while that doubles',
    { script: { a: [BUSY, UNREACHABLE, TIMEOUT, OK] }, retries: 3 },
    'try a, stop a, wait 250, try a, wait 500, try a, wait 1000, try a, 200 of a, byte, end',
  ],
  [
    'and what it says last is the answer',
    { script: { a: [BUSY, BUSY] }, retries: 1 },
    'try a, stop a, wait 250, try a, 503 of a, byte, end',
  ],
  [
    'Retry-After comes on top',
    { script: { a: [LIMITED, OK] }, retries: 1 },
    'try a, stop a, wait 2250, try a, 200 of a, byte, end',
  ],
  [
    'a long Retry-After is the client’s to wait for',
    { script: { a: [LIMITED_LONG] }, retries: 3 },
    'try a, 429 of a, byte, end',
  ],
  [
    'or the next model’s chance',
    { script: { a: [LIMITED_LONG], b: [OK] }, retries: 3 },
    'try a, stop a, try b, 200 of b, byte, end',
  ],
  [
    'each model has its retries before the next one is called',
    { script: { a: [BUSY, BUSY], b: [LIMITED, OK] }, retries: 1 },
    'try a, stop a, wait 250, try a, stop a, try b, stop b, wait 2250, try b, 200 of b, byte, end',
  ],
  [
    'a refusal is not repeated',
    { script: { a: [{ status: 401 }] }, retries: 3 },
    'try a, 401 of a, byte, end',
  ],
  [
    'a provider that says not to try again is not tried again, the next one is',
    { script: { a: [{ status: 503, headers: { 'x-should-retry': 'false' } }], b: [OK] }, retries: 3 },
    'try a, stop a, try b, 200 of b, byte, end',
  ],
  [
    'one that says to try again is, whatever its status',
    { script: { a: [{ status: 400, headers: { 'x-should-retry': 'true' } }, OK] }, retries: 3 },
    'try a, stop a, wait 250, try a, 200 of a, byte, end',
  ],
  [
    'a provider that breaks off before its first byte did not answer',
    { script: { a: [{ breaksOff: 'provider_unreachable' }], b: [OK] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'with nothing else to try, that is for the relay to tell',
    { script: { a: [{ breaksOff: 'provider_unreachable' }] } },
    'try a, 200 of a, broken: provider_unreachable',
  ],
  [
    'after the first byte nothing else is tried',
    { script: { a: [{ breaksOffLate: 'provider_unreachable' }], b: [] }, retries: 3 },
    'try a, 200 of a, byte, broken: provider_unreachable',
  ],
  [
    'an answer that is no completion is tried elsewhere, and not again where it came from',
    { script: { a: [{ breaksOff: 'provider_bad_answer' }], b: [OK] }, retries: 3 },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'a fault of the gateway is tried nowhere else',
    { script: { a: [{ fails: 'internal_error' }], b: [] }, retries: 3 },
    'try a, internal_error of a',
  ],
];

for (const [what, options, events] of TABLE) {
  t.test(what, async (t) => {
    const call = startCall(options);
    await call.finish();
    t.equal(call.events.join(', '), events);
  });
}

t.test('what ends before it has begun comes to the same', async (t) => {
  const split = (events: string[]) => ({
    stopped: events.filter((event) => event.startsWith('stop')),
    others: events.filter((event) => !event.startsWith('stop')),
  });
  for (const [what, options, expected] of TABLE) {
    const call = startCall({ ...options, isSynchronous: true });
    await call.finish();
    // A response that is already over has nothing to stop.
    const [is, should] = [split(call.events), split(expected.split(', '))];
    t.same(is, { ...should, stopped: [] }, what);
  }
});

t.test('every try is told, in order, with what came of it', async (t) => {
  const call = startCall({ script: { a: [BUSY, TIMEOUT], b: [OK] }, retries: 1 });
  call.time.pass(30);
  await call.step();
  while (call.events.filter((event) => event.startsWith('try')).length < 3) await call.step();
  call.time.pass(7);
  await call.finish();
  t.same(call.attempts, [
    { provider: 'CUSTOM', model: 'a', status: 503, errorCode: null, latencyMs: 30 },
    { provider: 'CUSTOM', model: 'a', status: 0, errorCode: 'provider_timeout', latencyMs: 0 },
    { provider: 'CUSTOM', model: 'b', status: 200, errorCode: null, latencyMs: 7 },
  ]);
});

t.test('a call with one way to go has no tries to tell of', async (t) => {
  const call = startCall({ script: { a: [OK] } });
  await call.finish();
  t.same(call.attempts, []);
});

t.test('a client that leaves', async (t) => {
  t.test('while a model is asked stops that, and nothing else is tried', async (t) => {
    const call = startCall({ script: { a: ['hangs'], b: [] }, retries: 3 });
    call.time.pass(12);
    await call.abort();
    await call.abort();
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a');
    t.same(call.attempts, [
      { provider: 'CUSTOM', model: 'a', status: 0, errorCode: 'client_closed_request', latencyMs: 12 },
    ]);
  });

  t.test('while a retry is waited for cancels it', async (t) => {
    const call = startCall({ script: { a: [BUSY] }, retries: 3 });
    await call.step();
    t.equal(call.time.timers, 1);
    await call.abort();
    t.equal(call.time.timers, 0);
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a, wait 250');
    t.equal(call.attempts.length, 1);
  });

  t.test('between headers and first byte hears of neither', async (t) => {
    const call = startCall({ script: { a: [OK], b: [] } });
    await call.step();
    await call.abort();
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a');
    t.match(call.attempts, [{ status: 0, errorCode: 'client_closed_request' }]);
  });

  t.test('hears nothing of a provider that goes on all the same', async (t) => {
    const atOnce = [OK, UNREACHABLE, BUSY].map((ending) => [ending, 0] as const);
    const behindHeaders = [OK, { breaksOff: 'provider_timeout' } as const].map(
      (ending) => [ending, 1] as const,
    );
    for (const [ending, steps] of [...atOnce, ...behindHeaders]) {
      const call = startCall({ script: { a: [ending], b: [OK] }, isDeaf: true });
      for (let step = 0; step < steps; step += 1) await call.step();
      await call.abort();
      await call.finish();
      t.equal(call.events.join(', '), 'try a, stop a');
      t.equal(call.attempts.length, 1);
    }
  });

  t.test('in the middle of an answer stops it, and its try is told once', async (t) => {
    const call = startCall({ script: { a: [BUSY], b: [OK] } });
    for (let step = 0; step < 3; step += 1) await call.step();
    await call.abort();
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a, try b, 200 of b, stop b');
    t.equal(call.attempts.length, 2);
  });

  t.test('of a call with one way to go stops that', async (t) => {
    const call = startCall({ script: { a: ['hangs'] } });
    await call.abort();
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a');
  });
});

t.test('no try begins when the clients of the official libraries have given up', async (t) => {
  for (const [retries, script] of [
    [0, { a: [BUSY], b: [] }],
    [3, { a: [BUSY] }],
  ] as const) {
    const call = startCall({ script, retries });
    call.time.pass(600_001);
    await call.finish();
    t.equal(call.events.join(', '), 'try a, 503 of a, byte, end');
  }
  const late = startCall({ script: { a: [BUSY] }, retries: 1 });
  late.time.pass(599_800);
  await late.finish();
  t.equal(late.events.join(', '), 'try a, 503 of a, byte, end', 'nor would it after its wait');
  const inTime = startCall({ script: { a: [BUSY], b: [OK] } });
  inTime.time.pass(600_000);
  await inTime.finish();
  t.equal(inTime.events.join(', '), 'try a, stop a, try b, 200 of b, byte, end');
});

t.test('while an address is ill', async (t) => {
  const ill = (address: string, time: Time) => {
    const breaker = createCircuitBreaker({ clock: time.clock });
    for (let call = 0; call < 5; call += 1) breaker.settle(address, breaker.admit(address), 'failing');
    return breaker;
  };

  t.test('calls go to their other models first, and to it last', async (t) => {
    const time = new Time();
    const breaker = ill(A, time);
    const well = startCall({ script: { a: [], b: [OK] }, time, breaker });
    await well.finish();
    t.equal(well.events.join(', '), 'try b, 200 of b, byte, end');
    const illToo = startCall({ script: { a: [OK], b: [BUSY] }, time, breaker });
    await illToo.finish();
    t.equal(illToo.events.join(', '), 'try b, stop b, try a, 200 of a, byte, end');
  });

  t.test('a call that has nowhere else to go is made, and its success is heard of', async (t) => {
    const time = new Time();
    const breaker = ill(A, time);
    const once = startCall({ script: { a: [OK] }, time, breaker });
    t.equal(breaker.peekPermit(A).kind, 'open');
    await once.finish();
    t.equal(once.events.join(', '), 'try a, 200 of a, byte, end');
    t.equal(breaker.peekPermit(A).kind, 'closed');
  });

  t.test('a call whose models are all there tries them in order', async (t) => {
    const time = new Time();
    const candidates = [candidateOf('a', 'http://same.test'), candidateOf('b', 'http://same.test')];
    const breaker = ill('http://same.test', time);
    const call = startCall({ script: { a: [BUSY], b: [OK] }, candidates, time, breaker });
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a, try b, 200 of b, byte, end');
  });

  t.test('it is not waited for when there is another model, and is when there is none', async (t) => {
    const time = new Time();
    const breaker = createCircuitBreaker({ clock: time.clock });
    for (let call = 0; call < 4; call += 1) breaker.settle(A, breaker.admit(A), 'failing');
    const call = startCall({ script: { a: [BUSY], b: [OK] }, retries: 3, time, breaker });
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a, try b, 200 of b, byte, end');
    const alone = startCall({ script: { a: [BUSY, OK] }, retries: 3, time, breaker });
    await alone.finish();
    t.equal(alone.events.join(', '), 'try a, stop a, wait 250, try a, 200 of a, byte, end');
  });

  t.test('one call finds out whether it is well again, the others do not wait for that', async (t) => {
    const time = new Time();
    const breaker = ill(A, time);
    time.pass(5_000);
    const probe = startCall({ script: { a: [OK], b: [] }, time, breaker });
    const other = startCall({ script: { a: [], b: [OK] }, time, breaker });
    await other.finish();
    t.equal(other.events.join(', '), 'try b, 200 of b, byte, end');
    await probe.finish();
    t.equal(probe.events.join(', '), 'try a, 200 of a, byte, end');
    const after = startCall({ script: { a: [OK], b: [] }, time, breaker });
    await after.finish();
    t.equal(after.events[0], 'try a');
  });

  t.test('a probe whose client leaves makes room for another', async (t) => {
    const time = new Time();
    const breaker = ill(A, time);
    time.pass(5_000);
    await startCall({ script: { a: ['hangs'], b: [] }, time, breaker }).abort();
    const next = startCall({ script: { a: [OK], b: [] }, time, breaker });
    await next.finish();
    t.equal(next.events[0], 'try a');
  });
});

t.test('calls with one way to go tell of the health of their address', async (t) => {
  const time = new Time();
  const breaker = createCircuitBreaker({ clock: time.clock });
  for (let call = 0; call < 5; call += 1)
    await startCall({ script: { a: [UNREACHABLE] }, time, breaker }).finish();
  t.equal(breaker.peekPermit(A).kind, 'open');
});

t.test('an attempt that throws before it has begun fails with what was thrown', async (t) => {
  const { clock } = new Time();
  const breaker = createCircuitBreaker({ clock });
  const loop = createAttemptLoop({ breaker, clock, random: () => 0, sleep: async () => {} });
  const { signal } = new AbortController();
  for (const candidates of [[candidateOf('a')], [candidateOf('a'), candidateOf('b')]]) {
    for (const [thrown, code] of [
      [new AssayError('invalid_body', 'no'), 'invalid_body'],
      [new TypeError('oops'), 'internal_error'],
    ] as const) {
      const send = () => {
        throw thrown;
      };
      const call = { candidates, retries: 0, send, refuse, maxHeldBytes: 0 };
      t.match(await loop(call, signal), { index: 0, result: { code } });
    }
  }
});
