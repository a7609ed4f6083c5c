import fc from 'fast-check';
import t from 'tap';
import type { Run } from '#core/statistics/mod.ts';
import { packMetrics, unpackRuns } from '../../../../api/experiments/packed-runs.ts';

// Texts from a small set, so that items and clusters share some.
const text = fc.constantFrom('a', 'b', 'item 1', '', 'Zürich 🦜', '__proto__');
const run: fc.Arbitrary<Run> = fc.record(
  {
    itemId: text,
    cluster: fc.option(text),
    repetition: fc.integer({ min: 0, max: 100 }),
    value: fc.double(),
  },
  { noNullPrototype: true },
);
const runs = fc.array(run);
const metric = fc.record({ name: text, baseline: runs, candidate: runs }, { noNullPrototype: true });

t.test('packed runs are the same after a copy to a thread', async (t) => {
  fc.assert(
    fc.property(fc.array(metric), (metrics) => {
      const { metrics: packed, texts } = structuredClone(packMetrics(metrics));
      const unpacked = packed.map(({ name, baseline, candidate }) => ({
        name,
        baseline: unpackRuns(baseline, texts),
        candidate: unpackRuns(candidate, texts),
      }));
      t.strictSame(unpacked, metrics);
      t.equal(new Set(texts).size, texts.length, 'each text once');
    }),
  );
});
