import t from 'tap';
import { moveOnto } from '../../../../../dashboard/parts/chart/ghost.ts';

const DAY = 86_400_000;
const days = (from: number, count: number) => ({
  begins: Array.from({ length: count }, (_, index) => (from + index) * DAY),
  from: from * DAY,
  to: (from + count) * DAY,
});

t.test('The period before moves onto the buckets at the same distance from the beginning', async (t) => {
  t.same(moveOnto(days(7, 3), days(4, 3), [1, 2, null]), [1, 2, null]);
});

t.test('Buckets beyond a shorter period before have no value', async (t) => {
  const march = days(59, 31);
  const february = days(31, 28);
  const values = Array.from({ length: 28 }, (_, index) => index + 1);
  t.same(moveOnto(march, february, values), [...values, null, null, null]);
});

t.test('Ranges that cut their first and last bucket meet their counterparts', async (t) => {
  // From half past, for three hours: four buckets now, four before.
  const HOUR = DAY / 24;
  const now = { begins: [3, 4, 5, 6].map((hour) => hour * HOUR), from: 3.5 * HOUR, to: 6.5 * HOUR };
  const before = { begins: [0, 1, 2, 3].map((hour) => hour * HOUR), from: 0.5 * HOUR, to: 3.5 * HOUR };
  t.same(moveOnto(now, before, [10, 20, 30, 40]), [10, 20, 30, 40]);
});
