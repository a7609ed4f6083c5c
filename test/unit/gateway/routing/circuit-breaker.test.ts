import fc from 'fast-check';
import t from 'tap';
import { ERROR_CODES, type ErrorCode } from '#core/contracts/errors.ts';
import {
  addressOf,
  type BreakerState,
  createCircuitBreaker,
  type Health,
  healthOf,
  type Permit,
} from '../../../../gateway/routing/circuit-breaker.ts';
import { Time } from '../../../integration/gateway/routing/world.ts';

const A = 'http://a.test';
const B = 'http://b.test';

function setUp() {
  const time = new Time();
  const changes: string[] = [];
  const breaker = createCircuitBreaker({
    clock: time.clock,
    onChange: (origin: string, state: BreakerState) => changes.push(`${origin.slice(7, 8)} ${state}`),
  });
  /** Each letter is a call that ends before the next one begins: w healthy, i failing, u unknown. */
  const calls = (letters: string, origin = A): Permit['kind'][] =>
    [...letters].map((letter) => {
      const leave = breaker.admit(origin);
      const health: Health = letter === 'w' ? 'healthy' : letter === 'i' ? 'failing' : 'unknown';
      breaker.settle(origin, leave, health);
      return leave.kind;
    });
  const stateOf = (origin: string) => breaker.peekPermit(origin).kind;
  return { time, changes, breaker, calls, stateOf };
}

t.test(
  'a circuit opens after five failures in a row or ten of the last twenty, and not before',
  async (t) => {
    for (const [what, letters, isOpen] of [
      ['after five failures in a row', 'iiiii', true],
      ['not after four', 'iiii', false],
      ['not when an answer was between them', 'iiiiwiiii', false],
      ['after five in a row that begin late', 'wwwwwwwwwwwwwwwwwwwwiiiii', true],
      ['when ten of twenty failed', 'iwiwiwiwiwiwiwiwiwi', true],
      ['not when nine of twenty did', 'iwiwiwiwiwiwiwiwiwwwi', false],
      ['whatever rate limits there were between them', 'iuiuiuuuuuiui', true],
      ['and not by them', 'u'.repeat(100), false],
      ['nor by answers', 'w'.repeat(100), false],
    ] as const) {
      const { stateOf, calls } = setUp();
      calls(letters);
      t.equal(stateOf(A), isOpen ? 'open' : 'closed', what);
    }
  },
);

t.test('failures more than a minute apart do not open a circuit', async (t) => {
  const { stateOf, calls, time } = setUp();
  calls('iiii');
  time.pass(60_001);
  calls('iiii');
  t.equal(stateOf(A), 'closed');
  time.pass(60_000);
  calls('i');
  t.equal(stateOf(A), 'open');
});

t.test('a circuit opens for its own address only', async (t) => {
  const { breaker, calls, stateOf } = setUp();
  calls('iiiii');
  t.equal(stateOf(B), 'closed');
  t.equal(breaker.admit(B).kind, 'closed');
});

t.test(
  'five seconds after a circuit opened one call probes the address, and others find it open',
  async (t) => {
    const { breaker, calls, time, changes } = setUp();
    calls('iiiii');
    time.pass(4_999);
    t.equal(breaker.admit(A).kind, 'open');
    time.pass(1);
    const probe = breaker.admit(A);
    t.equal(probe.kind, 'probe');
    t.equal(breaker.admit(A).kind, 'open');
    time.pass(600_000);
    t.equal(breaker.admit(A).kind, 'open', 'however long the one takes');
    breaker.settle(A, probe, 'healthy');
    t.equal(breaker.admit(A).kind, 'closed');
    t.same(changes, ['a open', 'a half-open', 'a closed']);
  },
);

t.test('a failed probe keeps the circuit open twice as long each time, for at most a minute', async (t) => {
  const { breaker, calls, time, changes } = setUp();
  calls('iiiii');
  for (const openMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    time.pass(openMs - 1);
    t.equal(breaker.admit(A).kind, 'open', `${openMs}`);
    time.pass(1);
    t.same(calls('i'), ['probe'], `${openMs}`);
  }
  t.equal(changes.length, 13);
  time.pass(60_000);
  calls('w');
  calls('iiiii');
  time.pass(5_000);
  t.equal(breaker.admit(A).kind, 'probe', 'once it was well, it begins anew');
});

t.test('a probe with an unknown outcome lets the next call probe', async (t) => {
  const { breaker, calls, time, changes } = setUp();
  calls('iiiii');
  time.pass(5_000);
  t.same(calls('uuw'), ['probe', 'probe', 'probe']);
  t.equal(breaker.admit(A).kind, 'closed');
  t.equal(changes.join(), 'a open,a half-open,a open,a half-open,a open,a half-open,a closed');
});

t.test('a call made through an open circuit can close it, and cannot keep it open', async (t) => {
  const { breaker, calls, time } = setUp();
  calls('iiiii');
  const made = breaker.peekPermit(A);
  t.same(calls('iiiiiiiiii'), Array(10).fill('open'));
  time.pass(5_000);
  const probe = breaker.admit(A);
  t.equal(probe.kind, 'probe', 'their failures are nothing new');
  breaker.settle(A, made, 'failing');
  breaker.settle(A, made, 'unknown');
  t.equal(breaker.admit(A).kind, 'open', 'nor do they end the probe');
  breaker.settle(A, made, 'healthy');
  t.equal(breaker.admit(A).kind, 'closed');
  breaker.settle(A, probe, 'failing');
  t.equal(breaker.admit(A).kind, 'closed', 'and the probe is one failure among others then');
});

t.test('an earlier probe that settles late does not end a later one', async (t) => {
  const { breaker, calls, time } = setUp();
  calls('iiiii');
  time.pass(5_000);
  const overtaken = breaker.admit(A);
  breaker.settle(A, breaker.peekPermit(A), 'healthy');
  calls('iiiii');
  time.pass(5_000);
  t.equal(breaker.admit(A).kind, 'probe');
  breaker.settle(A, overtaken, 'unknown');
  breaker.settle(A, overtaken, 'failing');
  t.equal(breaker.admit(A).kind, 'open');
});

t.test('calls admitted before a circuit opened do not change its state', async (t) => {
  const { breaker, calls, time } = setUp();
  const early = breaker.admit(A);
  calls('iiiii');
  breaker.settle(A, early, 'healthy');
  t.equal(breaker.admit(A).kind, 'open');
  time.pass(5_000);
  t.equal(breaker.admit(A).kind, 'probe');
  breaker.settle(A, early, 'failing');
  breaker.settle(A, early, 'healthy');
  t.equal(breaker.admit(A).kind, 'open', 'the probe is still under way');
});

t.test('healthOf maps each status and error code to the health of the address', async (t) => {
  for (const [status, health] of [
    [200, 'healthy'],
    [302, 'healthy'],
    [400, 'healthy'],
    [401, 'healthy'],
    [404, 'healthy'],
    [408, 'unknown'],
    [429, 'unknown'],
    [500, 'failing'],
    [529, 'failing'],
  ] as const) {
    t.equal(healthOf(status, null), health, `${status}`);
  }
  const ill = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => healthOf(0, code) !== 'unknown');
  t.same(
    ill,
    ['provider_unreachable', 'provider_timeout'],
    'of our errors only those that tell of the provider',
  );
  t.equal(healthOf(0, 'provider_timeout'), 'failing');
});

t.test(
  'for random outcomes a circuit opens exactly after five failures in a row or ten of the last twenty',
  async () => {
    const letters = fc.array(fc.constantFrom('w', 'i', 'u'), { maxLength: 80 });
    fc.assert(
      fc.property(letters, (outcomes) => {
        const { stateOf, calls } = setUp();
        const seen: string[] = [];
        for (const outcome of outcomes) {
          calls(outcome);
          if (outcome !== 'u') seen.push(outcome);
          const isIll =
            seen.slice(-20).filter((letter) => letter === 'i').length >= 10 ||
            (seen.length >= 5 && seen.slice(-5).every((letter) => letter === 'i'));
          if (isIll !== (stateOf(A) === 'open')) throw new Error(`after ${seen.join('')}`);
          if (isIll) return;
        }
      }),
      { numRuns: 3_000 },
    );
  },
);

t.test(
  'at most one call at a time is a probe, and an address is always probed again, for any events',
  async () => {
    const action = fc.oneof(
      fc.constant('admit' as const),
      fc.record({ which: fc.nat(), health: fc.constantFrom<Health>('healthy', 'failing', 'unknown') }),
      fc.record({ ms: fc.constantFrom(1, 4_999, 5_000, 60_000) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const { breaker, calls, time, stateOf } = setUp();
        calls('iiiii');
        const underWay: Permit[] = [];
        const probes = new Set<Permit>();
        for (const next of actions) {
          if (next === 'admit') {
            const leave = breaker.admit(A);
            underWay.push(leave);
            if (leave.kind === 'probe') probes.add(leave);
          } else if ('ms' in next) time.pass(next.ms);
          else if (underWay.length > 0) {
            const [leave] = underWay.splice(next.which % underWay.length, 1);
            breaker.settle(A, leave!, next.health);
            probes.delete(leave!);
            // Others' success overtakes a probe: it is a call among others then.
            if (stateOf(A) === 'closed') probes.clear();
          }
          if (probes.size > 1) throw new Error('two probes');
        }
        for (const leave of underWay) breaker.settle(A, leave, 'unknown');
        time.pass(60_000);
        if (breaker.admit(A).kind === 'open') throw new Error('given up');
      }),
      { numRuns: 3_000 },
    );
  },
);

t.test('two providers behind one origin have separate circuits', async (t) => {
  const breaker = createCircuitBreaker({ clock: new Time().clock });
  const origin = 'http://proxy.test';
  const [openai, groq] = (['openai', 'groq'] as const).map((provider) => addressOf({ provider, origin }));
  for (let call = 0; call < 5; call += 1) {
    breaker.settle(openai!, breaker.admit(openai!), 'failing');
    breaker.settle(groq!, breaker.admit(groq!), 'healthy');
  }
  t.equal(breaker.peekPermit(openai!).kind, 'open');
  t.equal(breaker.peekPermit(groq!).kind, 'closed');
});
