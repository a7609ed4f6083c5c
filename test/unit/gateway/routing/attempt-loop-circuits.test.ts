/** The order of attempts when the circuit of an address is open, and what attempts report to it. */
import t from 'tap';
import { addressOf } from '../../../../gateway/routing/circuit-breaker.ts';
import { createCircuitBreaker } from '../../../../gateway/routing/mod.ts';
import { candidateOf, startCall, Time } from '../../../integration/gateway/routing/world.ts';
import { BUSY, OK, UNREACHABLE } from './endings.ts';

/** The circuit breaker's address of the model `a`. */
const A = addressOf(candidateOf('a'));

t.test('calls with a model whose circuit is open', async (t) => {
  const ill = (address: string, time: Time) => {
    const breaker = createCircuitBreaker({ clock: time.clock });
    for (let call = 0; call < 5; call += 1) breaker.settle(address, breaker.admit(address), 'failing');
    return breaker;
  };

  t.test('a call tries its other models before the one whose circuit is open', async (t) => {
    const time = new Time();
    const breaker = ill(A, time);
    const well = startCall({ script: { a: [], b: [OK] }, time, breaker });
    await well.finish();
    t.equal(well.events.join(', '), 'try b, 200 of b, byte, end');
    const illToo = startCall({ script: { a: [OK], b: [BUSY] }, time, breaker });
    await illToo.finish();
    t.equal(illToo.events.join(', '), 'try b, stop b, try a, 200 of a, byte, end');
  });

  t.test(
    'a call with only a model of an open circuit is made, and its success closes the circuit',
    async (t) => {
      const time = new Time();
      const breaker = ill(A, time);
      const once = startCall({ script: { a: [OK] }, time, breaker });
      t.equal(breaker.peekPermit(A).kind, 'open');
      await once.finish();
      t.equal(once.events.join(', '), 'try a, 200 of a, byte, end');
      t.equal(breaker.peekPermit(A).kind, 'closed');
    },
  );

  t.test('a call whose models all share the open circuit tries them in order', async (t) => {
    const time = new Time();
    const candidates = [candidateOf('a', 'http://same.test'), candidateOf('b', 'http://same.test')];
    const breaker = ill('http://same.test', time);
    const call = startCall({ script: { a: [BUSY], b: [OK] }, candidates, time, breaker });
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a, try b, 200 of b, byte, end');
  });

  t.test(
    'an open circuit ends the retries of a model when there is another one, and not otherwise',
    async (t) => {
      const time = new Time();
      const breaker = createCircuitBreaker({ clock: time.clock });
      for (let call = 0; call < 4; call += 1) breaker.settle(A, breaker.admit(A), 'failing');
      const call = startCall({ script: { a: [BUSY], b: [OK] }, retries: 3, time, breaker });
      await call.finish();
      t.equal(call.events.join(', '), 'try a, stop a, try b, 200 of b, byte, end');
      const alone = startCall({ script: { a: [BUSY, OK] }, retries: 3, time, breaker });
      await alone.finish();
      t.equal(alone.events.join(', '), 'try a, stop a, wait 250, try a, 200 of a, byte, end');
    },
  );

  t.test('one call probes an address of an open circuit, and other calls do not wait for it', async (t) => {
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

  t.test('a probe whose client disconnects lets the next call probe', async (t) => {
    const time = new Time();
    const breaker = ill(A, time);
    time.pass(5_000);
    await startCall({ script: { a: ['hangs'], b: [] }, time, breaker }).abort();
    const next = startCall({ script: { a: [OK], b: [] }, time, breaker });
    await next.finish();
    t.equal(next.events[0], 'try a');
  });
});

t.test(
  'calls with a single candidate report the health of their address to the circuit breaker',
  async (t) => {
    const time = new Time();
    const breaker = createCircuitBreaker({ clock: time.clock });
    for (let call = 0; call < 5; call += 1)
      await startCall({ script: { a: [UNREACHABLE] }, time, breaker }).finish();
    t.equal(breaker.peekPermit(A).kind, 'open');
  },
);
