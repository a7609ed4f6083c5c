import t from 'tap';
import { dayBuckets, daysOf } from '../../../../../../dashboard/pages/evaluator/statistics/days.ts';

const daily = ['2026-03-28', '2026-03-29', '2026-03-30'].map((day) => ({ day, count: 0, mean: null }));

t.test('A day of the statistics is the same date on the chart, whatever the zone', async (t) => {
  const { begins, from, to } = dayBuckets(daily);
  t.same(
    begins.map((begin) => new Date(begin).getDate()),
    [28, 29, 30],
  );
  t.equal(from, begins[0]);
  t.equal(new Date(to).getDate(), 31);
});

t.test('A part of the chart names the days that it touches, and none that it ends at', async (t) => {
  const buckets = dayBuckets(daily);
  const [first, second, third] = buckets.begins as [number, number, number];
  t.same(daysOf(daily, buckets, buckets), { first: '2026-03-28', last: '2026-03-30' });
  t.same(daysOf(daily, buckets, { from: first, to: second }), { first: '2026-03-28', last: '2026-03-28' });
  t.same(daysOf(daily, buckets, { from: second, to: third + 1 }), {
    first: '2026-03-29',
    last: '2026-03-30',
  });
});
