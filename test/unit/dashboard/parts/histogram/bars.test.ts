import t from 'tap';
import { barsOf, rangeOf } from '../../../../../dashboard/parts/histogram/bars.ts';

const range = { from: '2026-11-01T00:30:00.000Z', to: '2026-11-01T02:30:00.000Z' };
const HOUR_MS = 3_600_000;
const MIDNIGHT = Date.UTC(2026, 10, 1);
const points = [0, 1, 2].map((hour) => [MIDNIGHT + hour * HOUR_MS, hour, hour === 2 ? null : 1]);
const bars = barsOf({ range, total: { points, total: [3, 2] } });

t.test('bars have the counts of their buckets, and end where the range ends', async (t) => {
  t.strictSame(bars, [
    { from: MIDNIGHT + HOUR_MS / 2, to: MIDNIGHT + HOUR_MS, requests: 0, errors: 1 },
    { from: MIDNIGHT + HOUR_MS, to: MIDNIGHT + 2 * HOUR_MS, requests: 1, errors: 1 },
    { from: MIDNIGHT + 2 * HOUR_MS, to: MIDNIGHT + 2.5 * HOUR_MS, requests: 2, errors: 0 },
  ]);
});

t.test('two bars in either order are the range from the first to the last', async (t) => {
  const both = { from: MIDNIGHT + HOUR_MS, to: MIDNIGHT + 2.5 * HOUR_MS };
  t.strictSame(rangeOf(bars, 1, 2), both);
  t.strictSame(rangeOf(bars, 2, 1), both);
  t.equal(rangeOf([], 0, 0), null);
});
