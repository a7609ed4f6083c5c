import fc from 'fast-check';
import t from 'tap';
import { readRetryAfter } from '#platform/http-message/mod.ts';

const NOW_MS = Date.parse('2026-01-31T12:00:00Z');

const CASES: [value: string, ms: number | null][] = [
  ['0', 0],
  ['2', 2_000],
  [' 2 ', 2_000],
  ['0.25', 250],
  ['0.0001', 1],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ['Sat, 31 Jan 2026 12:00:03 GMT', 3_000],
  ['Saturday, 31-Jan-26 12:00:03 GMT', 3_000],
  ['Sat Jan 31 12:00:03 2026', 3_000],
  ['2026-01-31T12:00:03Z', 3_000],
  ['Sat, 31 Jan 2026 11:59:00 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['', null],
  ['soon', null],
  ['-5', null],
  ['+5', null],
  ['1e3', null],
  ['0x10', null],
  ['5 seconds', null],
  ['1, 2', null],
  ['Sat, 31 Jan 2026 25:00:00 GMT', null],
];

for (const [value, ms] of CASES) {
  t.test(
    `Retry-After "${value.slice(0, 40)}" is ${ms === null ? 'not understood' : `${ms} ms`}`,
    async (t) => {
      t.equal(readRetryAfter({ 'retry-after': value }, NOW_MS), ms);
    },
  );
}

t.test('a response without any of the headers asks for no wait', async (t) => {
  t.equal(readRetryAfter({}, NOW_MS), null);
});

t.test('milliseconds come before seconds, and before them only where they can be read', async (t) => {
  const seconds = { 'retry-after': '5' };
  t.equal(readRetryAfter({ ...seconds, 'retry-after-ms': '120' }, NOW_MS), 120);
  t.equal(readRetryAfter({ ...seconds, 'x-ms-retry-after-ms': '130.2' }, NOW_MS), 131);
  t.equal(readRetryAfter({ ...seconds, 'retry-after-ms': '120', 'x-ms-retry-after-ms': '9' }, NOW_MS), 120);
  for (const unread of ['soon', '', '1e9', '-1', 'Sat, 31 Jan 2026 12:00:03 GMT'])
    t.equal(readRetryAfter({ ...seconds, 'retry-after-ms': unread }, NOW_MS), 5_000, unread);
});

t.test('the first value of a repeated Retry-After header counts', async (t) => {
  t.equal(readRetryAfter({ 'retry-after': ['3', '9'] }, NOW_MS), 3_000);
});

t.test(
  'the result is null or a whole number of milliseconds that is not negative, whatever was sent',
  async () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (seconds, ms) => {
        const waitMs = readRetryAfter({ 'retry-after': seconds, 'retry-after-ms': ms }, NOW_MS);
        return (
          waitMs === null || waitMs === Number.POSITIVE_INFINITY || (Number.isInteger(waitMs) && waitMs >= 0)
        );
      }),
    );
  },
);

t.test('every HTTP date is read to the second', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
      const date = new Date(NOW_MS + seconds * 1_000).toUTCString();
      return readRetryAfter({ 'retry-after': date }, NOW_MS) === seconds * 1_000;
    }),
  );
});
