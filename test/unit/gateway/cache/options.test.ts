import t from 'tap';
import { type CacheHeaders, parseCacheOptions } from '../../../../gateway/cache/mod.ts';

const ENABLED = { isEnabled: true, cacheControl: null, seed: null, bucketMaxSize: null, isCoalescing: false };

function wish(headers: Partial<CacheHeaders>, retentionDays: number | null = null) {
  return parseCacheOptions({ ...ENABLED, ...headers }, retentionDays);
}

const DEFAULT = { maxAgeMs: 604_800_000, bucketSize: 1, seed: null, isReading: true, isCoalescing: false };

t.test(
  'a call that does not enable the cache has no cache options, whatever its other headers',
  async (t) => {
    t.equal(wish({ isEnabled: false, cacheControl: 'max-age=x', bucketMaxSize: '99' }), null);
  },
);

t.test('by default the cache keeps one response for a week', async (t) => {
  t.same(wish({}), DEFAULT);
  t.same(wish({ cacheControl: '' }), DEFAULT);
  t.same(wish({ cacheControl: 'private, max-stale=5, , only-if-cached' }), DEFAULT);
});

t.test('Cache-Control sets the maximum age, the shortest of several, at most a year', async (t) => {
  t.equal(wish({ cacheControl: 'max-age=60' })?.maxAgeMs, 60_000);
  t.equal(wish({ cacheControl: 'private, Max-Age = "30"' })?.maxAgeMs, 30_000);
  t.equal(wish({ cacheControl: 'max-age=60,max-age=5, s-maxage=1' })?.maxAgeMs, 5_000);
  t.equal(wish({ cacheControl: 'max-age=0' })?.maxAgeMs, 0);
  t.equal(wish({ cacheControl: `max-age=${'9'.repeat(400)}` })?.maxAgeMs, 31_536_000_000);
});

t.test('a response is kept no longer than records are', async (t) => {
  t.equal(wish({ cacheControl: 'max-age=86401' }, 1)?.maxAgeMs, 86_400_000);
  t.equal(wish({}, 3)?.maxAgeMs, 3 * 86_400_000);
  t.equal(wish({ cacheControl: 'max-age=5' }, 1)?.maxAgeMs, 5_000);
  t.equal(wish({ cacheControl: `max-age=${'9'.repeat(400)}` }, 1_000)?.maxAgeMs, 31_536_000_000);
});

t.test('no-cache stores a response without reading the cache, no-store does neither', async (t) => {
  t.same(wish({ cacheControl: 'no-cache', isCoalescing: true }), { ...DEFAULT, isReading: false });
  t.equal(wish({ cacheControl: 'max-age=60, No-Store' }), null);
});

t.test('seed, bucket size and coalescing are read from their headers', async (t) => {
  t.same(wish({ seed: 'a', bucketMaxSize: ' 20 ', isCoalescing: true }), {
    ...DEFAULT,
    seed: 'a',
    bucketSize: 20,
    isCoalescing: true,
  });
  t.equal(wish({ seed: '' })?.seed, null);
});

t.test('an invalid cache header is refused with its name and its rule', async (t) => {
  for (const value of ['0', '21', '-1', '1.5', '1e1', '', 'x', '0x5', '９']) {
    t.throws(() => wish({ bucketMaxSize: value }), {
      code: 'invalid_header',
      message: `Cannot read the header Service-Cache-Bucket-Max-Size: it must be a whole number from 1 to 20, but is "${value}"`,
    });
  }
  for (const value of [
    'max-age',
    'max-age=',
    'max-age=-1',
    'max-age=1.5',
    'max-age=1e3',
    'no-store, max-age=x',
  ]) {
    t.throws(() => wish({ cacheControl: value }), {
      code: 'invalid_header',
      message: /Cache-Control: max-age must be/,
    });
  }
});
