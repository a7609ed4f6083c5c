import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  compact,
  inPercent,
  withDigits,
  withPlaces,
} from '../../../../../dashboard/parts/formats/decimals.ts';
import {
  bytes,
  count,
  decimal,
  dollars,
  milliseconds,
  NOTHING,
  percent,
  plural,
  shortCount,
} from '../../../../../dashboard/parts/formats/numbers.ts';
import {
  ago,
  day,
  dayAndMinutes,
  fullTime,
  shortTime,
} from '../../../../../dashboard/parts/formats/times.ts';

t.test('what is missing is a dash in every format', async (t) => {
  for (const format of [bytes, count, decimal, dollars, milliseconds, percent, shortCount]) {
    t.equal(format(null), NOTHING);
    t.equal(format(undefined), NOTHING);
  }
  t.equal(percent(Number.NaN), NOTHING);
});

t.test('numbers have separators, and things their plural', async (t) => {
  t.equal(count(12_345), '12,345');
  t.equal(shortCount(12_345), '12.3K');
  t.equal(percent(0.1234), '12.3%');
  t.equal(decimal(0.66666), '0.667');
  t.equal(decimal(3113), '3,113');
  t.equal(decimal(-12_345.678), '-12,346');
  t.equal(decimal(1234.5), '1,235');
  t.equal(decimal(1.2345e-200), '1.23e-200');
  t.equal(decimal(1e300), '1e+300');
  t.same(
    [0, 1, 2, 1_000].map((value) => plural(value, 'request')),
    ['0 requests', '1 request', '2 requests', '1,000 requests'],
  );
});

t.test('money is written to the cent, and below ten cents with two digits that count', async (t) => {
  const texts = {
    0: '$0',
    1e-9: '$0.000000001',
    0.00012: '$0.00012',
    0.0015: '$0.0015',
    0.05: '$0.05',
    0.0949: '$0.095',
    0.0999: '$0.10',
    0.1: '$0.10',
    0.995: '$1.00',
    5: '$5.00',
    999.99: '$999.99',
    999.999: '$1,000.00',
    1000: '$1,000.00',
    1234567.8: '$1,234,567.80',
  };
  for (const [value, text] of Object.entries(texts)) t.equal(dollars(Number(value)), text);
  t.equal(dollars(-0.5), '-$0.50');
  t.equal(dollars(-0.00012), '-$0.00012');
});

t.test('money is never written as another amount than the rounded one', async () => {
  const amount = fc.oneof(
    fc.double({ min: 1e-9, max: 0.2, noNaN: true }),
    fc.double({ min: 0.09, max: 1_100, noNaN: true }),
    fc.integer({ min: 1, max: 10 ** 9 }).map((cents) => cents / 100),
  );
  fc.assert(
    fc.property(amount, (value) => {
      const text = dollars(value);
      const read = Number(text.slice(1).replaceAll(',', ''));
      const isCents = value >= 0.1 || read >= 0.1;
      // Half of what the last digit stands for, and what a double is off.
      const most = (isCents ? 0.005 : 10 ** (Math.floor(Math.log10(value)) - 1) / 2) * (1 + 1e-9);
      const isForm = isCents ? /^\$\d{1,3}(?:,\d{3})*\.\d\d$/ : /^\$0\.0+[1-9]\d?$/;
      return Math.abs(read - value) <= most + value * 1e-12 && isForm.test(text) && dollars(read) === text;
    }),
    { numRuns: 10_000 },
  );
});

t.test("numbers are written as the browser's own formats write them", async () => {
  const intl = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat('en-US', options);
  const cents = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  // As many digits as count, but no fewer than the number has before its point.
  const digits = (most: number) =>
    intl({
      maximumSignificantDigits: most,
      maximumFractionDigits: 0,
      roundingPriority: 'morePrecision',
    });
  const pairs: [(value: number) => string, Intl.NumberFormat][] = [
    [(value) => withPlaces(value, { most: 0 }), intl({ maximumFractionDigits: 0 })],
    [(value) => withPlaces(value, { most: 2, least: 2 }), intl(cents)],
    [(value) => withDigits(value, 2), digits(2)],
    [(value) => withDigits(value, 3), digits(3)],
    [compact, intl({ notation: 'compact', maximumFractionDigits: 1 })],
    [inPercent, intl({ style: 'percent', maximumFractionDigits: 1 })],
  ];
  const size = fc.oneof(
    // A double has no digits for tenths of percents of larger numbers.
    fc.double({ min: 1e-12, max: 1e9, noNaN: true }),
    fc.double({ min: 1e-12, max: 2_000, noNaN: true }),
    fc.nat(2 ** 31 - 1),
    // Halves, which binary numbers hardly ever are, and what rounds to the next power of ten.
    fc.tuple(fc.nat(1_000_000), fc.nat(8)).map(([digits, places]) => digits / 10 ** places),
    fc
      .tuple(fc.integer({ min: -9, max: 14 }), fc.nat(4))
      .map(([power, less]) => 10 ** power * (1 - 10 ** -less)),
  );
  const value = fc
    .tuple(size, fc.boolean())
    .map(([size, isNegative]) => (isNegative && size > 1 ? -size : size));
  fc.assert(
    fc.property(fc.constantFrom(...pairs), value, ([format, oracle], value) => {
      assert.equal(format(value), oracle.format(value));
    }),
    { numRuns: 30_000 },
  );
});

t.test("moments are written as the browser's own formats write them", async () => {
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const date = { month: 'short', day: '2-digit' } as const;
  const intl = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options);
  const whole = intl({ ...date, ...clock, year: 'numeric', second: '2-digit' });
  const noSeconds = intl({ ...date, ...clock });
  const moment = fc.date({ min: new Date('1971-01-01'), max: new Date('2199-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(moment, (at) => {
      assert.equal(fullTime(at.getTime()), `${whole.format(at)} (${at.toISOString()})`);
      assert.equal(dayAndMinutes(at.getTime()), noSeconds.format(at));
    }),
    { numRuns: 5_000 },
  );
});

t.test('durations are in the unit that reads best', async (t) => {
  t.same([0, 1, 999, 1_000, 1_234, 59_990, 60_000, 3_600_000, 48 * 3_600_000].map(milliseconds), [
    '0 ms',
    '1 ms',
    '999 ms',
    '1 s',
    '1.23 s',
    '60 s',
    '1 min 0 s',
    '1 h 0 min',
    '2 d 0 h',
  ]);
  t.equal(milliseconds(119_900), '2 min 0 s', 'not 1 min 60 s');
  t.same([0, 1, 1_023, 1_024, 1_536, 1024 ** 4].map(bytes), [
    '0 B',
    '1 B',
    '1,023 B',
    '1 KiB',
    '1.5 KiB',
    '1 TiB',
  ]);
});

t.test('no duration has 60 seconds or 60 minutes, and longer ones are never written as shorter', async () => {
  fc.assert(
    fc.property(fc.nat(10 * 86_400_000), (ms) => !/\b60 (?:s|min)$/.test(milliseconds(ms)) || ms < 60_000),
    { numRuns: 5_000 },
  );
});

t.test('a moment of today has no day, and the whole moment has its zone', async (t) => {
  const now = new Date(2026, 10, 23, 15, 4, 5).getTime();
  t.equal(shortTime(now - 3_600_000, now), '14:04:05');
  t.match(shortTime(now - 86_400_000, now), /22.*15:04:05/);
  t.notMatch(shortTime(now - 86_400_000, now), /2026/);
  t.match(shortTime(now - 400 * 86_400_000, now), /2025/);
  t.match(fullTime(now), new Date(now).toISOString());
  t.match(day(now), /23/);
});

t.test('how long ago is in whole units', async (t) => {
  const at = (ms: number) => ago(1_000_000_000_000 - ms, 1_000_000_000_000);
  t.same([0, 5_000, 90_000, 7_200_000, 5 * 86_400_000, -90_000].map(at), [
    'just now',
    '5 s ago',
    '1 min ago',
    '2 h ago',
    '5 d ago',
    'in 1 min',
  ]);
});
