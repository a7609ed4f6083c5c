import fc from 'fast-check';
import t from 'tap';
import { Backoff, backoffMs } from '#platform/process/backoff.ts';

t.test('waits double from the first to the longest, and begin anew after a reset', async (t) => {
  const backoff = new Backoff({ firstMs: 50, longestMs: 500 });
  const waits = () => Array.from({ length: 6 }, () => backoff.next());
  t.same(waits(), [50, 100, 200, 400, 500, 500]);
  backoff.reset();
  t.same(waits(), [50, 100, 200, 400, 500, 500]);
});

t.test('a factor takes the place of doubling', async (t) => {
  const options = { firstMs: 5_000, longestMs: 300_000, factor: 4 };
  t.same(
    [0, 1, 2, 3].map((failures) => backoffMs(options, failures)),
    [5_000, 20_000, 80_000, 300_000],
  );
});

t.test('waits never shrink and stay within their bounds after any number of failures', async () => {
  const bounds = fc.record({ firstMs: fc.integer({ min: 1, max: 10_000 }), more: fc.nat(100_000) });
  fc.assert(
    fc.property(bounds, fc.nat(100_000), ({ firstMs, more }, failures) => {
      const options = { firstMs, longestMs: firstMs + more };
      const waitMs = backoffMs(options, failures);
      return waitMs >= firstMs && waitMs <= options.longestMs && backoffMs(options, failures + 1) >= waitMs;
    }),
  );
});
