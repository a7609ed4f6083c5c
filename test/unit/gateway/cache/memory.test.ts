import t from 'tap';
import { createMemory } from '../../../../gateway/cache/memory.ts';

const entry = (requestId: string, bytes = 10) => ({
  requestId,
  storedAtMs: 0,
  expiresAtMs: 1,
  response: { requestId, storedAtMs: 0, status: 200, contentType: null, body: Buffer.alloc(bytes) },
});
const bucketOf = (...requestIds: string[]) => ({ bucket: requestIds.map((id) => entry(id)), knownAt: 0 });

t.test(
  'forgetRequests forgets each bucket that holds a response to one of the requests, and no other',
  async (t) => {
    const memory = createMemory(100_000);
    memory.set('one', bucketOf('a', 'b'));
    memory.set('two', bucketOf('b'));
    memory.set('three', bucketOf('c'));
    memory.forgetRequests(['b', 'unknown']);
    t.equal(memory.get('one'), undefined);
    t.equal(memory.get('two'), undefined);
    t.not(memory.get('three'), undefined);
  },
);

t.test('forgetRequests keeps a bucket whose response to the request was replaced before', async (t) => {
  const memory = createMemory(100_000);
  memory.set('one', bucketOf('a'));
  memory.set('one', bucketOf('b'));
  memory.forgetRequests(['a']);
  t.not(memory.get('one'), undefined);
  memory.forgetRequests(['b']);
  t.equal(memory.get('one'), undefined);
});

t.test('a bucket that was evicted, or never fitted, can be stored again and forgotten', async (t) => {
  const memory = createMemory(1_200);
  memory.set('large', { bucket: [entry('x', 5_000)], knownAt: 0 });
  t.equal(memory.get('large'), undefined);
  memory.set('one', bucketOf('a'));
  memory.set('two', bucketOf('b'));
  memory.set('three', bucketOf('c'));
  t.equal(memory.get('one'), undefined, 'evicted');
  memory.set('one', bucketOf('a'));
  memory.forgetRequests(['a', 'x']);
  t.equal(memory.get('one'), undefined);
});
