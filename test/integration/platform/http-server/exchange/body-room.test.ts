/** Large bodies, which wait for room in memory. */
import { once } from 'node:events';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { Reply, serverRequestOf } from '#platform/http-server/mod.ts';
import { FairSlots, type FairSlotsOptions } from '#platform/process/fair-slots.ts';
import { waitFor } from '../../../../support/assay.ts';
import { served } from './wire.ts';

const MAX_BODY_BYTES = 400_000;
const LARGE = 150_000;

/** Serves bodies that need room; `/held` and `/packed` are answered once `answer` is called. */
async function servedInRoom(t: Test, options: Partial<FairSlotsOptions> = {}) {
  const slots = new FairSlots({ count: 2 * LARGE - 1, maxWaiting: 100, maxWaitingOfOne: 100, ...options });
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: unpacked, resolve: unpack } = Promise.withResolvers<void>();
  const dial = await served(t, async (request) => {
    const { pathname } = new URL(request.url);
    try {
      const isPacked = pathname === '/packed';
      const own = serverRequestOf(request);
      const body = await own.readBody(MAX_BODY_BYTES, { slots, owner: pathname, isPacked });
      if (isPacked) {
        await unpacked;
        own.shrinkRoom(10 * body.length);
      }
      if (pathname === '/held' || isPacked) await answered;
      return new Reply(`${body.length} bytes of ${String.fromCharCode(body[0]!)}`);
    } catch (error) {
      return new Reply((error as { code: string }).code, { status: 503 });
    }
  });
  return { slots, dial, answer, unpack };
}

/** A request with so many bytes of one letter, of which the last `missing` are not sent. */
const plain = (path: string, bytes: number, letter = 'a', missing = 0) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n${letter.repeat(bytes - missing)}`;

const chunked = (path: string, bytes: number, letter = 'a') => {
  const chunk = `${(1_000).toString(16)}\r\n${letter.repeat(1_000)}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(bytes / 1_000)}0\r\n\r\n`;
};

t.test('a large body waits until the response of another one has ended; a small one does not', async (t) => {
  const { slots, dial, answer } = await servedInRoom(t);
  const first = await dial();
  first.send(plain('/held', LARGE, 'a'));
  await waitFor('the first body to have room', () => slots.running === LARGE);
  const second = await dial();
  second.send(plain('/', LARGE, 'b'));
  await waitFor('the second to wait', () => slots.waiting === 1);
  const small = await dial();
  small.send(plain('/', 60_000, 'c'));
  await small.until('60000 bytes of c');
  t.equal(second.text(), '');
  answer();
  await first.until(`${LARGE} bytes of a`);
  await second.until(`${LARGE} bytes of b`);
  await waitFor('all room to be free', () => slots.running === 0);
  t.equal(slots.waiting, 0);
});

t.test('a body in chunks has room for the largest one until it is whole', async (t) => {
  const { slots, dial, answer } = await servedInRoom(t, { count: MAX_BODY_BYTES });
  const whole = await dial();
  const text = chunked('/held', LARGE);
  whole.send(text.slice(0, -5));
  await waitFor('it to have room', () => slots.running === MAX_BODY_BYTES);
  whole.send(text.slice(-5));
  await waitFor('the rest to be free', () => slots.running === LARGE);
  answer();
  await whole.until(`${LARGE} bytes of a`);
  t.match(whole.text(), /^HTTP\/1\.1 200 /);
});

t.test('a compressed body has room for the largest one until it is unpacked', async (t) => {
  const { slots, dial, answer, unpack } = await servedInRoom(t, { count: MAX_BODY_BYTES });
  const packed = await dial();
  packed.send(plain('/packed', 5_000));
  await waitFor('it to have room', () => slots.running === MAX_BODY_BYTES);
  unpack();
  await waitFor('the rest to be free', () => slots.running === 50_000);
  answer();
  await packed.until('5000 bytes of a');
  await waitFor('all room to be free', () => slots.running === 0);
  t.match(packed.text(), /^HTTP\/1\.1 200 /);
});

t.test('a client that leaves after its body takes room until its request is handled', async (t) => {
  const { slots, dial, answer } = await servedInRoom(t);
  const leaving = await dial();
  leaving.send(plain('/held', LARGE));
  await waitFor('it to have room', () => slots.running === LARGE);
  leaving.socket.destroy();
  const second = await dial();
  second.send(plain('/', LARGE, 'b'));
  await waitFor('the next to wait', () => slots.waiting === 1);
  t.equal(slots.running, LARGE);
  answer();
  await second.until(`${LARGE} bytes of b`);
});

t.test('a body that gets no room in time is refused, and its connection goes on', async (t) => {
  const { slots, dial, answer } = await servedInRoom(t, { patienceMs: 50 });
  const first = await dial();
  first.send(plain('/held', LARGE));
  await waitFor('the first body to have room', () => slots.running === LARGE);
  const second = await dial();
  second.send(plain('/', LARGE, 'b'));
  await second.until('bodies_busy');
  t.match(second.text(), /^HTTP\/1\.1 503 /);
  answer();
  await first.until(`${LARGE} bytes of a`);
  second.send(plain('/', LARGE, 'c'));
  await second.until(`${LARGE} bytes of c`);
});

t.test(
  'a client that leaves in the middle of its body, or while it waits, leaves no room taken',
  async (t) => {
    const { slots, dial } = await servedInRoom(t);
    const first = await dial();
    first.send(plain('/', LARGE, 'a', 10));
    await waitFor('the first body to have room', () => slots.running === LARGE);
    const second = await dial();
    second.send(plain('/', LARGE, 'b', 10));
    await waitFor('the second to wait', () => slots.waiting === 1);
    second.socket.resetAndDestroy();
    await once(second.socket, 'close');
    first.socket.destroy();
    await waitFor('all room to be free', () => slots.running === 0 && slots.waiting === 0);
  },
);

const SENT = fc.record({
  kilobytes: fc.integer({ min: 1, max: 400 }),
  isChunked: fc.boolean(),
  owner: fc.constantFrom('/a', '/b', '/c'),
});

t.test('bodies of any sizes are all read whole in a room for few', async (t) => {
  const room = { count: 600_000, ofOne: MAX_BODY_BYTES, spare: MAX_BODY_BYTES };
  const { slots, dial } = await servedInRoom(t, room);
  const property = fc.asyncProperty(fc.array(SENT, { minLength: 1, maxLength: 12 }), async (bodies) => {
    await Promise.all(
      bodies.map(async ({ kilobytes, isChunked, owner }, index) => {
        const wire = await dial();
        const letter = String.fromCharCode(97 + index);
        wire.send((isChunked ? chunked : plain)(owner, kilobytes * 1_000, letter));
        await wire.until(`\r\n\r\n${kilobytes * 1_000} bytes of ${letter}`);
        wire.socket.destroy();
      }),
    );
    await waitFor('all room to be free', () => slots.running === 0);
  });
  await fc.assert(property, { numRuns: 40 });
  t.equal(slots.waiting, 0);
});
