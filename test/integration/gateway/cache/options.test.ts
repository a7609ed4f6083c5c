/** Cache options in the headers of a call: seed, age, bucket size, no cache. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { type Headers, readAll } from '../limits/world.ts';
import { fresh, startCachedWorld } from './calls-world.ts';

const world = await startCachedWorld(t);
const { gateway, provider, key, countAnswers, call, cacheOf, written } = world;

t.test('calls with different cache seeds share no response', async (t) => {
  const body = fresh();
  countAnswers();
  const seeds = [undefined, 'a', 'b', 'A'];
  const headersOf = (seed: string | undefined): Headers =>
    seed === undefined ? {} : { 'Service-Cache-Seed': seed };
  const texts: string[] = [];
  for (const seed of seeds) {
    const { cache, text } = await call(body, headersOf(seed));
    t.equal(cache, 'MISS', `seed ${seed}`);
    texts.push(text);
  }
  for (const [index, seed] of seeds.entries()) {
    const { cache, text } = await call(body, headersOf(seed));
    t.same([cache, text], ['HIT', texts[index]]);
  }
  t.equal(provider.requests.at(-1)?.headers['service-cache-seed'], undefined);
});

/** Calls until the stored response is not served any more; returns the milliseconds since `since`. */
async function agesOut(body: object, headers: Headers, since: number): Promise<number> {
  await waitFor('the answer to be too old', async () => (await cacheOf(body, headers)) === 'MISS');
  return performance.now() - since;
}

t.test('a stored response is served until the max-age of the call that stored it', async (t) => {
  const body = fresh();
  const since = performance.now();
  t.equal(await cacheOf(body, { 'Cache-Control': 'max-age=5' }), 'MISS');
  t.equal(await cacheOf(body), 'HIT');
  t.ok((await agesOut(body, {}, since)) >= 5_000);
});

t.test('a call with a shorter max-age gets a new response, which replaces the stored one', async (t) => {
  const body = fresh();
  countAnswers();
  const since = performance.now();
  const first = await call(body);
  t.equal(first.cache, 'MISS');
  t.ok((await agesOut(body, { 'Cache-Control': 'private, max-age=1' }, since)) >= 1_000);
  const next = await call(body);
  t.equal(next.cache, 'HIT');
  t.not(next.text, first.text, 'the one that was answered last');
});

t.test('a call with max-age=0 neither reads the cache nor stores its response', async (t) => {
  const body = fresh();
  t.equal(await cacheOf(body), 'MISS');
  t.equal(await cacheOf(body, { 'Cache-Control': 'max-age=0' }), 'MISS');
  const another = fresh();
  t.equal(await cacheOf(another, { 'Cache-Control': 'max-age=0' }), 'MISS');
  t.equal(await cacheOf(another), 'MISS');
});

t.test('a bucket stores as many responses as its size, and then serves any of them', async (t) => {
  const body = fresh();
  const three = { 'Service-Cache-Bucket-Max-Size': '3' };
  countAnswers();
  const stored = new Set<string>();
  for (let time = 0; time < 3; time += 1) {
    const given = await call(body, three);
    t.equal(given.cache, 'MISS');
    stored.add(given.text);
    await written(given);
  }
  t.equal(stored.size, 3);
  const given = new Set<string>();
  const calls = provider.requests.length;
  // The chance that one of three is missing in 60 draws is 1 in 10 billion.
  for (let time = 0; time < 60; time += 1) {
    const { cache, text } = await call(body, three);
    if (cache !== 'HIT') t.fail(`${cache} at ${time}`);
    given.add(text);
  }
  t.same([...given].sort(), [...stored].sort());
  t.equal(provider.requests.length, calls);
});

t.test(
  'with no-store nothing is stored or served from the cache, and Service-Cache is missing',
  async (t) => {
    const body = fresh();
    t.equal(await cacheOf(body, { 'Cache-Control': 'no-store' }), undefined);
    t.equal(await cacheOf(body), 'MISS');
    t.equal(await cacheOf(body, { 'Cache-Control': 'no-store, max-age=60' }), undefined);
  },
);

t.test('with no-cache the provider is called, and its response is served to later calls', async (t) => {
  const body = fresh();
  countAnswers();
  await call(body);
  const anew = await call(body, { 'Cache-Control': 'no-cache' });
  t.equal(anew.cache, 'MISS');
  const next = await call(body);
  t.same([next.cache, next.text], ['HIT', anew.text]);
});

t.test('an invalid cache header is refused with its name, and ignored where the cache is off', async (t) => {
  const before = provider.requests.length;
  for (const [name, value, rule] of [
    ['Service-Cache-Bucket-Max-Size', '0', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', '21', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', '-1', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', '1.5', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', 'many', 'it must be a whole number from 1 to 20'],
    ['Cache-Control', 'max-age=soon', 'max-age must be whole seconds'],
    ['Cache-Control', 'max-age=-5', 'max-age must be whole seconds'],
    ['Cache-Control', 'max-age=1.5', 'max-age must be whole seconds'],
  ] as const) {
    const { status, text } = await call(fresh(), { [name]: value });
    t.equal(status, 400, `${name}: ${value}`);
    const given = value.replace('max-age=', '');
    t.same(JSON.parse(text), {
      error: {
        message: `Cannot read the header ${name}: ${rule}, but is "${given}"`,
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_header',
      },
    });
  }
  t.equal(provider.requests.length, before);
  const unread = await readAll(await gateway.chat(key, { 'Service-Cache-Bucket-Max-Size': '0' }));
  t.equal(unread.status, 200, 'without the cache, nobody reads them');
});
