import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { createAttemptLoop, createCircuitBreaker } from '../../../../gateway/routing/mod.ts';
import {
  type CallOptions,
  candidateOf,
  PAGE,
  PLAIN,
  refuse,
  startCall,
  Time,
  watch,
} from '../../../integration/gateway/routing/world.ts';
import { BUSY, LIMITED, LIMITED_LONG, OK, TIMEOUT, UNREACHABLE } from './endings.ts';

/** `random` is a half, so the waits are 250, 500, 1,000 ms… and what the provider asks for on top. */
const TABLE: [what: string, options: CallOptions, events: string][] = [
  ['the response to a call with one model is relayed', { script: { a: [OK] } }, 'try a, 200 of a, byte, end'],
  [
    'the failure of a call with one model is relayed',
    { script: { a: [UNREACHABLE] } },
    'try a, provider_unreachable of a',
  ],
  [
    'the error response to a call with one model is relayed',
    { script: { a: [BUSY] } },
    'try a, 503 of a, byte, end',
  ],
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
    'when all models fail, the error response of the last one is relayed',
    { script: { a: [TIMEOUT], b: [BUSY] } },
    'try a, try b, 503 of b, byte, end',
  ],
  [
    'a whole HTML page or redirect is not relayed when there is a next model',
    { script: { a: [{ status: 200, headers: PAGE }], b: [{ status: 302, headers: PAGE }], c: [OK] } },
    'try a, try b, try c, 200 of c, byte, end',
  ],
  [
    'an HTML page from the last model goes to the relay',
    { script: { a: [TIMEOUT], b: [{ status: 200, headers: PAGE }] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'an HTML page with status 200 is not retried at the same model',
    { script: { a: [{ status: 200, headers: PAGE }] }, retries: 2 },
    'try a, provider_bad_answer of a',
  ],
  [
    'a plain response that breaks off after its first byte leads to the next model',
    { script: { a: [{ breaksOffLate: 'provider_unreachable', headers: PLAIN }], b: [OK] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'a plain response too large to hold is relayed before its end',
    { script: { a: [{ breaksOffLate: 'provider_unreachable', headers: PLAIN }], b: [] }, maxHeldBytes: 0 },
    'try a, 200 of a, byte, broken: provider_unreachable',
  ],
  [
    'when all models fail, a gateway error for the last one is relayed',
    { script: { a: [BUSY], b: [TIMEOUT] } },
    'try a, stop a, try b, provider_timeout of b',
  ],
  [
    'a 400 is relayed at once, without trying the next model',
    { script: { a: [{ status: 400 }], b: [] } },
    'try a, 400 of a, byte, end',
  ],
  [
    'a 401 or 404 of one provider leads to the next model',
    { script: { a: [{ status: 401 }], b: [{ status: 404 }], c: [OK] } },
    'try a, stop a, try b, stop b, try c, 200 of c, byte, end',
  ],
  [
    'a call that does not ask for retries is not retried',
    { script: { a: [BUSY] }, retries: 0 },
    'try a, 503 of a, byte, end',
  ],
  [
    'a call with retries is retried at the same model after a delay that doubles',
    { script: { a: [BUSY, UNREACHABLE, TIMEOUT, OK] }, retries: 3 },
    'try a, stop a, wait 250, try a, wait 500, try a, wait 1000, try a, 200 of a, byte, end',
  ],
  [
    'after the last retry the response of the last attempt is relayed',
    { script: { a: [BUSY, BUSY] }, retries: 1 },
    'try a, stop a, wait 250, try a, 503 of a, byte, end',
  ],
  [
    'Retry-After is added to the retry delay',
    { script: { a: [LIMITED, OK] }, retries: 1 },
    'try a, stop a, wait 2250, try a, 200 of a, byte, end',
  ],
  [
    'a response with a long Retry-After is relayed instead of retried',
    { script: { a: [LIMITED_LONG] }, retries: 3 },
    'try a, 429 of a, byte, end',
  ],
  [
    'a long Retry-After leads to the next model',
    { script: { a: [LIMITED_LONG], b: [OK] }, retries: 3 },
    'try a, stop a, try b, 200 of b, byte, end',
  ],
  [
    'each model has its retries before the next one is called',
    { script: { a: [BUSY, BUSY], b: [LIMITED, OK] }, retries: 1 },
    'try a, stop a, wait 250, try a, stop a, try b, stop b, wait 2250, try b, 200 of b, byte, end',
  ],
  [
    'a 401 is not retried at the same model',
    { script: { a: [{ status: 401 }] }, retries: 3 },
    'try a, 401 of a, byte, end',
  ],
  [
    'x-should-retry: false prevents a retry and leads to the next model',
    { script: { a: [{ status: 503, headers: { 'x-should-retry': 'false' } }], b: [OK] }, retries: 3 },
    'try a, stop a, try b, 200 of b, byte, end',
  ],
  [
    'x-should-retry: true causes a retry, whatever the status',
    { script: { a: [{ status: 400, headers: { 'x-should-retry': 'true' } }, OK] }, retries: 3 },
    'try a, stop a, wait 250, try a, 200 of a, byte, end',
  ],
  [
    'a response that breaks off before its first byte leads to the next model',
    { script: { a: [{ breaksOff: 'provider_unreachable' }], b: [OK] } },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'a response that breaks off before its first byte goes to the relay when no model is left',
    { script: { a: [{ breaksOff: 'provider_unreachable' }] } },
    'try a, 200 of a, broken: provider_unreachable',
  ],
  [
    'after the first byte of a stream no other attempt is made',
    { script: { a: [{ breaksOffLate: 'provider_unreachable' }], b: [] }, retries: 3 },
    'try a, 200 of a, byte, broken: provider_unreachable',
  ],
  [
    'an invalid response leads to the next model, and is not retried at the same one',
    { script: { a: [{ breaksOff: 'provider_bad_answer' }], b: [OK] }, retries: 3 },
    'try a, try b, 200 of b, byte, end',
  ],
  [
    'an internal error of the gateway leads to no other attempt',
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

t.test('responses that are over at once lead to the same events as later ones', async (t) => {
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

t.test('every attempt is reported in order, with its outcome and latency', async (t) => {
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

t.test('a call with a single candidate and no retries reports no attempts', async (t) => {
  const call = startCall({ script: { a: [OK] } });
  await call.finish();
  t.same(call.attempts, []);
});

t.test('no attempt begins after 10 minutes, when the official clients have given up', async (t) => {
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

t.test(
  'an attempt that throws before it begins fails with the thrown error, others as internal_error',
  async (t) => {
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
        const call = { candidates, retries: 0, send, refuse, watch, maxHeldBytes: 0 };
        t.match(await loop(call, signal), { index: 0, result: { code } });
      }
    }
  },
);
