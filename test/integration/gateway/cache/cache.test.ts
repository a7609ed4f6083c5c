import t from 'tap';
import type { CacheQuery } from '../../../../gateway/cache/bucket.ts';
import type { ResponseCache, StoredResponse } from '../../../../gateway/cache/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { seededRandom } from '../../../support/random.ts';
import { askFor, cacheWorld } from './world.ts';

const MIB = 1024 * 1024;

/** The text of the answer found, and whether it came at once; null: a miss. */
async function found(
  cache: ResponseCache,
  ask: CacheQuery,
): Promise<{ text: string; atOnce: boolean } | null> {
  const asked = cache.find(ask);
  const answer = await asked;
  return answer === null ? null : { text: answer.body.toString(), atOnce: !(asked instanceof Promise) };
}

t.test(
  'a response is found synchronously by the gateway that stored it, and by every other gateway',
  async (t) => {
    const world = await cacheWorld(t);
    const [here, there] = [world.cache(), world.cache()];
    const ask = askFor('hello');
    t.equal(await here.find(ask), null);
    const answer = world.answer('{"a": "\\u0000 é"}', {
      contentType: 'text/event-stream; charset=utf-8',
      status: 201,
    });
    here.store(ask, answer);
    t.same(here.find(ask), answer, 'byte for byte, with all that is known of it');
    await world.stored(1);
    t.same(await there.find(ask), answer);
    t.same(there.find(ask), answer, 'and from then on at once');
    t.equal(await found(here, askFor('other')), null);
    t.match(here.counts, { memoryHits: 1, storeHits: 0, misses: 2, dropped: 0 });
    t.match(there.counts, { memoryHits: 1, storeHits: 1, misses: 0 });
  },
);

t.test('a stored response outlives its gateway, also one that stops at once', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello');
  const stopped = world.cache();
  for (let number = 0; number < 50; number += 1)
    stopped.store(askFor(`n${number}`), world.answer(`${number}`));
  stopped.store(ask, world.answer('kept'));
  await stopped.stop(5_000);
  t.equal((await found(world.cache(), ask))?.text, 'kept');
  t.equal(stopped.counts.dropped, 0);
});

t.test('a response is never found by another organization, even under the same key', async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello');
  here.store(ask, world.answer('theirs'));
  await world.stored(1);
  const other = {
    ...askFor('hello', { organizationId: '22222222-2222-4222-8222-222222222222' }),
    key: ask.key,
  };
  t.equal(await there.find(other), null);
  there.store(other, world.answer('ours'));
  await world.stored(2);
  const anywhere = world.cache();
  t.equal((await found(anywhere, ask))?.text, 'theirs', 'nor does it take its place');
  t.not(askFor('hello', { organizationId: other.organizationId }).key, ask.key);
});

t.test('a thousand concurrent look-ups of one key share one result', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello');
  world.cache().store(ask, world.answer('hello'));
  await world.stored(1);
  const cache = world.cache();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => cache.find(ask)));
  t.ok(answers.every((answer) => answer === answers[0] && answer?.body.toString() === 'hello'));
});

t.test("a response older than the call's max-age is a miss, and the new one replaces it", async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello', { maxAgeMs: 100_000 });
  here.store(ask, world.answer('old'));
  await world.stored(1);
  world.advance(50_000);
  for (const cache of [here, there]) {
    t.equal((await found(cache, ask))?.text, 'old');
    t.equal(await found(cache, { ...ask, maxAgeMs: 50_000 }), null);
    t.equal(await found(cache, { ...ask, maxAgeMs: 0 }), null);
  }
  here.store({ ...ask, maxAgeMs: 50_000 }, world.answer('new'));
  t.equal((await found(here, ask))?.text, 'new');
  await here.stop(5_000);
  t.equal((await found(world.cache(), ask))?.text, 'new');
  const [row] = await world.sql`select count(*)::int as answers from assay.cached_answers`;
  t.equal(row?.answers, 1);
});

t.test('a response expires at the age it was stored with, whatever age a later call accepts', async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello', { maxAgeMs: 10_000 });
  here.store(ask, world.answer('brief'));
  await world.stored(1);
  const patient = { ...ask, maxAgeMs: 1_000_000 };
  world.advance(9_000);
  t.equal((await found(here, patient))?.text, 'brief');
  t.equal((await found(there, patient))?.text, 'brief');
  world.advance(1_100);
  t.equal(await found(here, patient), null);
  t.equal(await found(there, patient), null);
});

t.test('an expired response does not hide an older one that has not expired', async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello', { bucketSize: 2 });
  here.store(ask, world.answer('lasting'));
  world.advance(1);
  here.store({ ...ask, maxAgeMs: 10_000 }, world.answer('brief'));
  await world.stored(2);
  world.advance(11_000);
  for (const cache of [here, there])
    t.equal((await found(cache, { ...ask, bucketSize: 1 }))?.text, 'lasting');
});

t.test('a bucket misses until it is full, and then returns any of its responses', async (t) => {
  const world = await cacheWorld(t);
  const random = seededRandom(5);
  const [here, there] = [world.cache({ random }), world.cache({ random })];
  const ask = askFor('hello', { bucketSize: 3 });
  for (const text of ['a', 'b', 'c']) {
    t.equal(await found(here, ask), null, `before ${text}`);
    t.equal(await found(there, ask), null, `before ${text}, there`);
    here.store(ask, world.answer(text));
    await world.stored(['a', 'b', 'c'].indexOf(text) + 1);
    world.advance(1);
  }
  for (const cache of [here, there]) {
    const times = new Map<string, number>();
    for (let call = 0; call < 300; call += 1) {
      const { text = 'a miss' } = (await found(cache, ask)) ?? {};
      times.set(text, (times.get(text) ?? 0) + 1);
    }
    t.same([...times.keys()].sort(), ['a', 'b', 'c']);
    for (const [text, count] of times) t.ok(count > 60, `${text}: ${count} of 300`);
    t.equal((await found(cache, ask))?.atOnce, true, 'in the end all are in memory');
  }
  t.equal((await found(there, { ...ask, bucketSize: 1 }))?.text, 'c', 'who keeps one gets the newest');
  t.equal(await found(there, { ...ask, bucketSize: 4 }), null, 'who keeps more makes another');
});

t.test('a bucket that is read while Postgres is slow to write loses none of its responses', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const ask = askFor('hello', { bucketSize: 2 });
  const { promise: enough, resolve: release } = Promise.withResolvers<void>();
  t.teardown(release);
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  // The lock lets the table be read, and not written.
  const locking = world.sql.begin(async (tx) => {
    await tx`lock table assay.cached_answers in share mode`;
    isLocked();
    await enough;
  });
  await locked;
  cache.store(ask, world.answer('a'));
  t.equal(await found(cache, ask), null, 'one is too few');
  world.advance(1);
  cache.store(ask, world.answer('b'));
  t.ok((await found(cache, ask))?.atOnce, 'both are there');
  t.match(await found(cache, { ...ask, maxAgeMs: ask.maxAgeMs - 1 }), { text: /[ab]/ });
  release();
  await locking;
  await world.stored(2);
});

t.test('a bucket keeps no more responses than its call asked for, and evicts the oldest', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const ask = askFor('hello', { bucketSize: 2 });
  for (const text of ['a', 'b', 'c', 'd']) {
    cache.store(ask, world.answer(text));
    world.advance(1);
  }
  await cache.stop(5_000);
  const rows = await world.sql<{ text: string }[]>`
    select convert_from(body, 'utf8') as text from assay.cached_answers order by 1`;
  t.same(
    rows.map(({ text }) => text),
    ['c', 'd'],
  );
  t.equal(await found(cache, { ...ask, bucketSize: 3 }), null, 'nor does memory');
});

t.test('a response that another gateway has replaced is found within a minute', async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello');
  here.store(ask, world.answer('old'));
  await world.stored(1);
  world.advance(1);
  there.store(ask, world.answer('new'));
  await there.stop(5_000);
  t.equal((await found(here, ask))?.text, 'old', 'memory is believed');
  world.advance(60_000);
  t.equal((await found(here, ask))?.text, 'new');
  await world.sql`delete from assay.cached_answers`;
  world.advance(60_000);
  t.equal(await found(here, ask), null, 'and what somebody deleted is gone');
});

t.test('a row that was damaged, cut or moved is a miss', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello');
  const other = askFor('other');
  const damages = {
    cut: `body = substr(body, 1, 3)`,
    emptied: `body = ''`,
    changed: `body = set_byte(body, 2, 0)`,
    'of another status': `status = 299`,
    'of another type': `content_type = 'text/html'`,
    'of another request': `request_id = 'x'`,
    'made younger': `stored_at = stored_at + interval '1 minute'`,
    'made to last': `expires_at = expires_at + interval '1 day'`,
    'without its digest': `digest = ''`,
    'moved to another key': `answer_key = decode('${other.key}', 'hex')`,
    'moved to another organization': `organization_id = '22222222-2222-4222-8222-222222222222'`,
  };
  for (const [name, change] of Object.entries(damages)) {
    const writer = world.cache();
    writer.store(ask, world.answer('an answer'));
    await writer.stop(5_000);
    t.equal((await found(world.cache(), ask))?.text, 'an answer');
    await world.sql.unsafe(`update assay.cached_answers set ${change}`);
    const reader = world.cache();
    const asks = [ask, other, { ...ask, organizationId: '22222222-2222-4222-8222-222222222222' }];
    for (const tried of asks) t.equal(await reader.find(tried), null, name);
    world.advance(1);
    reader.store(ask, world.answer('a new one'));
    await reader.stop(5_000);
    if (!name.startsWith('made younger'))
      t.equal(
        (await found(world.cache(), ask))?.text,
        'a new one',
        `${name}: the next answer takes its place`,
      );
    await world.sql`delete from assay.cached_answers`;
  }
});

t.test('only a successful response of at most 8 MiB and a positive max-age is stored', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ maxMemoryBytes: 64 * MIB });
  const tries: [string, Partial<StoredResponse>, Partial<CacheQuery>, boolean][] = [
    ['an error', { status: 500 }, {}, false],
    ['a redirect', { status: 302 }, {}, false],
    ['for no time', {}, { maxAgeMs: 0 }, false],
    ['too large', { body: Buffer.alloc(8 * MIB + 1) }, {}, false],
    ['the largest', { body: Buffer.alloc(8 * MIB, 'x') }, {}, true],
    ['nothing at all', { body: Buffer.alloc(0), contentType: null }, {}, true],
    ['a strange type', { contentType: 'text/\0x' }, {}, true],
  ];
  for (const [name, answer, ask] of tries) cache.store(askFor(name, ask), world.answer('', answer));
  await cache.stop(10_000);
  const other = world.cache();
  for (const [name, answer, , isKept] of tries) {
    const got = await other.find(askFor(name));
    t.equal(got !== null, isKept, name);
    if (isKept && answer.body !== undefined) t.ok(got?.body.equals(answer.body), name);
  }
});

t.test('the memory cache is bounded in bytes, and counts only the bytes of each response', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ maxMemoryBytes: 100_000 });
  const network = Buffer.alloc(64 * 1024, 'x');
  for (let number = 0; number < 50; number += 1) {
    // As it comes from a socket: a small piece of something large.
    cache.store(askFor(`${number}`), world.answer('', { body: network.subarray(0, 1_500) }));
  }
  network.fill('y');
  let inMemory = 0;
  for (let number = 0; number < 50; number += 1) {
    const asked = cache.find(askFor(`${number}`));
    const isInMemory = !(asked instanceof Promise);
    if (isInMemory) inMemory += 1;
    const answer = await asked;
    if (isInMemory) {
      t.equal(answer?.body.buffer.byteLength, 1_500);
      t.ok(
        answer?.body.every((byte) => byte === 'x'.charCodeAt(0)),
        'nor does it change with where it came from',
      );
    }
  }
  t.ok(inMemory >= 40 && inMemory <= 50, `${inMemory} of 50 answers of 2,000 bytes in 100,000`);
});

t.test('a response that was stored while the clock was ahead is not found, and makes room', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello', { maxAgeMs: 60_000 });
  const [here, there] = [world.cache(), world.cache()];
  world.advance(3 * 3_600_000);
  here.store(ask, world.answer('stored too late'));
  await world.stored(1);
  t.equal((await found(there, ask))?.text, 'stored too late');
  world.advance(-3 * 3_600_000);
  for (const cache of [here, there, world.cache()]) t.equal(await cache.find(ask), null);
  here.store(ask, world.answer('stored now'));
  await waitFor('the response of now to take the place of the other', async () => {
    const rows = await world.sql`select body from assay.cached_answers`;
    return rows.length === 1 && rows[0]!.body.toString() === 'stored now';
  });
  for (const cache of [here, world.cache()]) t.equal((await found(cache, ask))?.text, 'stored now');
  const slow = world.answer('by a clock that is a little ahead', { storedAtMs: world.clock.now() + 30_000 });
  there.store(ask, slow);
  t.equal((await found(there, ask))?.text, slow.body.toString());
});
