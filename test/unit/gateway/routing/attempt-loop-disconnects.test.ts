/** Clients that disconnect from a call: nothing more is tried or sent. */
import t from 'tap';
import { startCall } from '../../../integration/gateway/routing/world.ts';
import { BUSY, OK, UNREACHABLE } from './endings.ts';

t.test('a client that disconnects ends its call', async (t) => {
  t.test('a client that disconnects during an attempt stops it, and no other attempt follows', async (t) => {
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

  t.test('a client that disconnects during a retry delay cancels the retry', async (t) => {
    const call = startCall({ script: { a: [BUSY] }, retries: 3 });
    await call.step();
    t.equal(call.time.timers, 1);
    await call.abort();
    t.equal(call.time.timers, 0);
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a, wait 250');
    t.equal(call.attempts.length, 1);
  });

  t.test('a client that disconnects between headers and first byte is sent neither', async (t) => {
    const call = startCall({ script: { a: [OK], b: [] } });
    await call.step();
    await call.abort();
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a');
    t.match(call.attempts, [{ status: 0, errorCode: 'client_closed_request' }]);
  });

  t.test('a client that disconnected is sent nothing of a provider that goes on', async (t) => {
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

  t.test(
    'a client that disconnects in the middle of a response stops it, and the attempt is reported once',
    async (t) => {
      const call = startCall({ script: { a: [BUSY], b: [OK] } });
      for (let step = 0; step < 3; step += 1) await call.step();
      await call.abort();
      await call.finish();
      t.equal(call.events.join(', '), 'try a, stop a, try b, 200 of b, stop b');
      t.equal(call.attempts.length, 2);
    },
  );

  t.test('a client that disconnects from a call with one candidate stops its attempt', async (t) => {
    const call = startCall({ script: { a: ['hangs'] } });
    await call.abort();
    await call.finish();
    t.equal(call.events.join(', '), 'try a, stop a');
  });
});
