import fc from 'fast-check';
import t from 'tap';
import { offsetToShow, visibleRows } from '../../../../../dashboard/parts/virtual/visible.ts';

const cases = fc.record({
  count: fc.nat(5_000),
  rowHeight: fc.integer({ min: 10, max: 60 }),
  offset: fc.integer({ min: -200, max: 400_000 }),
  height: fc.integer({ min: 0, max: 3_000 }),
  margin: fc.nat(20),
});

t.test('all rows of the view are there, with the margin, and the whole is as high as all rows', async () => {
  fc.assert(
    fc.property(cases, ({ count, rowHeight, offset, height, margin }) => {
      const { from, to, before, after } = visibleRows(count, rowHeight, { offset, height }, margin);
      if (!(from >= 0 && from <= to && to <= count)) return false;
      if (before + (to - from) * rowHeight + after !== count * rowHeight) return false;
      for (let row = 0; row < count; row++) {
        const isSeen = (row + 1) * rowHeight > offset && row * rowHeight < offset + height;
        if (isSeen && (row < from || row >= to)) return false;
      }
      // Not many more than those.
      return to - from <= height / rowHeight + 2 * margin + 2;
    }),
    { numRuns: 1_000 },
  );
});

t.test('a row is shown whole with the least scrolling', async () => {
  const HEAD = 32;
  fc.assert(
    fc.property(cases, fc.nat(4_999), ({ rowHeight, offset, height }, index) => {
      const view = { offset: Math.max(0, offset), height: height + rowHeight + HEAD };
      const next = offsetToShow(index, rowHeight, view, HEAD);
      const top = index * rowHeight;
      const isWhole = (at: number) => top >= at && top + rowHeight <= at + view.height - HEAD;
      return isWhole(next) && (!isWhole(view.offset) || next === view.offset);
    }),
    { numRuns: 2_000 },
  );
});
