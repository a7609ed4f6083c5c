import t from 'tap';
import { axisOf } from '../../../../../dashboard/pages/session/axis.ts';

t.test('An axis goes from the first request to the last answer', async (t) => {
  const { place, lengthMs, pausesMs } = axisOf(
    [
      { from: 1_000, to: 1_400 },
      { from: 1_200, to: 2_000 },
    ],
    true,
  );
  t.same([place(1_000), place(1_500), place(2_000)], [0, 0.5, 1]);
  t.same([lengthMs, pausesMs], [1_000, 0]);
  t.same([place(0), place(9_999)], [0, 1], 'a moment outside is at an end');
});

t.test('A pause is shortened to a gap that can be seen, or keeps its length', async (t) => {
  const spans = [
    { from: 0, to: 500 },
    { from: 1_000_500, to: 1_001_000 },
  ];
  const short = axisOf(spans, false);
  t.same([short.lengthMs, short.pausesMs], [1_001_000, 1_000_000]);
  t.ok(short.place(500) > 0.45 && short.place(1_000_500) < 0.55, 'both take about half');
  t.ok(short.place(1_000_500) > short.place(500));
  const whole = axisOf(spans, true);
  t.ok(whole.place(500) < 0.001 && whole.place(1_000_500) > 0.999);
});

t.test('A session without any length has an axis all the same', async (t) => {
  t.equal(axisOf([], false).place(5), 0);
  t.equal(axisOf([{ from: 5, to: 5 }], false).place(5), 0);
});
