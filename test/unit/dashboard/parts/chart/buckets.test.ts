import t from 'tap';
import {
  alignSpan,
  bucketAt,
  domainOf,
  middlesOf,
  spanOf,
  zoomIn,
  zoomOut,
} from '../../../../../dashboard/parts/chart/buckets.ts';

const HOUR = 3_600_000;
/** Four hours, of which the first and the last are cut by the range. */
const BUCKETS = { begins: [0, HOUR, 2 * HOUR, 3 * HOUR], from: HOUR / 2, to: 3.25 * HOUR };

t.test('A bucket is the part of it inside the range', async (t) => {
  t.same(spanOf(BUCKETS, 0), { from: HOUR / 2, to: HOUR });
  t.same(spanOf(BUCKETS, 1), { from: HOUR, to: 2 * HOUR });
  t.same(spanOf(BUCKETS, 3), { from: 3 * HOUR, to: 3.25 * HOUR });
});

t.test(
  'The axis shows the last bucket as long as the one before, and points stand in the middles',
  async (t) => {
    t.same(domainOf(BUCKETS), { from: 0, to: 4 * HOUR });
    t.same(
      middlesOf(BUCKETS),
      [0.5, 1.5, 2.5, 3.5].map((hours) => hours * HOUR),
    );
    const one = { begins: [0], from: 0, to: HOUR };
    t.same(domainOf(one), { from: 0, to: HOUR }, 'a single bucket ends with the range');
    t.same(domainOf({ begins: [], from: 5, to: 9 }), { from: 5, to: 9 }, 'without buckets it is the range');
  },
);

t.test('A moment is in the bucket that has begun last, and outside of all in the nearest', async (t) => {
  t.equal(bucketAt(BUCKETS, HOUR), 1);
  t.equal(bucketAt(BUCKETS, 2 * HOUR - 1), 1);
  t.equal(bucketAt(BUCKETS, -1), 0);
  t.equal(bucketAt(BUCKETS, 99 * HOUR), 3);
});

t.test('A selection grows to whole buckets, and stays inside the range', async (t) => {
  t.same(alignSpan(BUCKETS, { from: 1.4 * HOUR, to: 2.1 * HOUR }), { from: HOUR, to: 3 * HOUR });
  t.same(
    alignSpan(BUCKETS, { from: 1.4 * HOUR, to: 2 * HOUR }),
    { from: HOUR, to: 2 * HOUR },
    'ends with a bucket',
  );
  t.same(alignSpan(BUCKETS, { from: 0, to: 9 * HOUR }), { from: HOUR / 2, to: 3.25 * HOUR });
});

t.test('Zooming in halves the range around a bucket, down to a minute', async (t) => {
  const { from, to } = zoomIn(BUCKETS, 2);
  t.equal(to - from, (BUCKETS.to - BUCKETS.from) / 2);
  t.equal((from + to) / 2, 2.5 * HOUR);
  const short = zoomIn({ begins: [0], from: 0, to: 60_000 }, 0);
  t.equal(short.to - short.from, 60_000);
});

t.test('Zooming out doubles the range around its middle, but not into the future', async (t) => {
  const span = { from: 10 * HOUR, to: 12 * HOUR };
  t.same(zoomOut(span, 99 * HOUR), { from: 9 * HOUR, to: 13 * HOUR });
  t.same(zoomOut(span, 12 * HOUR), { from: 8 * HOUR, to: 12 * HOUR });
});
