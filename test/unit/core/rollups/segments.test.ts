import fc from 'fast-check';
import t from 'tap';
import { FAMILY_NAMES, GRAINS, planSegments, type Segment } from '#core/rollups/mod.ts';
import type { SegmentOptions } from '#core/rollups/segments.ts';

const SLOT_MS = 10_000;
const NOW_MS = Date.parse('2026-11-23T12:34:56.789Z');
const DAY_MS = 86_400_000;
const READ_MARGIN_MS = 600_000;

/** The grain in which a moment should be read: the coarsest whose bucket around it may be read. Written without recursion. */
function grainAt(momentMs: number, options: SegmentOptions): Segment['grainSeconds'] {
  const { fromMs, toMs, boundariesMs, grains, stale, nowMs, rowsFromMs } = options;
  const coarsestFirst = grains.toReversed();
  const readable = coarsestFirst.find(({ seconds, keptMs }) => {
    const beginsMs = Math.floor(momentMs / (seconds * 1_000)) * seconds * 1_000;
    const endsMs = beginsMs + seconds * 1_000;
    const isCut = boundariesMs.some((boundary) => boundary > beginsMs && boundary < endsMs);
    const isOld = keptMs !== null && beginsMs < nowMs - keptMs + READ_MARGIN_MS;
    const isInside = beginsMs >= fromMs && endsMs <= Math.min(toMs, rowsFromMs);
    return isInside && !isCut && !isOld && stale.get(seconds)?.has(beginsMs) !== true;
  });
  return readable?.seconds ?? 'rows';
}

const momentMs = fc.oneof(
  fc.integer({ min: NOW_MS - 4 * DAY_MS, max: NOW_MS + DAY_MS }),
  // Whole days, half hours, minutes.
  fc.nat({ max: 4 }).map((days) => Math.floor(NOW_MS / DAY_MS - days) * DAY_MS),
  fc.nat({ max: 200 }).map((halves) => (Math.floor(NOW_MS / 1_800_000) - halves) * 1_800_000),
  fc.nat({ max: 4_000 }).map((minutes) => (Math.floor(NOW_MS / 60_000) - minutes) * 60_000),
);

const optionsArbitrary: fc.Arbitrary<SegmentOptions> = fc
  .record({
    family: fc.constantFrom(...FAMILY_NAMES),
    bounds: fc.tuple(momentMs, momentMs),
    boundaries: fc.array(momentMs, { maxLength: 6 }),
    staleMoments: fc.array(fc.tuple(momentMs, fc.nat({ max: 3 })), { maxLength: 8 }),
    rowsFromMs: fc.oneof(fc.constant(NOW_MS), momentMs),
  })
  .map(({ family, bounds, boundaries, staleMoments, rowsFromMs }) => {
    const grains = GRAINS[family];
    const stale = new Map<number, Set<number>>();
    for (const [moment, finest] of staleMoments) {
      // A stale bucket makes those around it stale.
      for (const { seconds } of grains.slice(finest)) {
        const begins = Math.floor(moment / (seconds * 1_000)) * seconds * 1_000;
        stale.set(seconds, (stale.get(seconds) ?? new Set()).add(begins));
      }
    }
    return {
      fromMs: Math.min(...bounds),
      toMs: Math.max(...bounds),
      boundariesMs: boundaries.toSorted((left, right) => left - right),
      grains,
      stale,
      nowMs: NOW_MS,
      rowsFromMs,
    };
  });

t.test(
  'segments cover a range without gaps, in ascending order, and neighbours differ in grain',
  async (t) => {
    fc.assert(
      fc.property(optionsArbitrary, (options) => {
        const segments = planSegments(options);
        let at = options.fromMs;
        for (const [index, segment] of segments.entries()) {
          if (segment.fromMs !== at || segment.toMs <= at) return false;
          if (segments[index - 1]?.grainSeconds === segment.grainSeconds) return false;
          at = segment.toMs;
        }
        return at === options.toMs;
      }),
    );
    t.pass();
  },
);

t.test('each moment of a range is read in the coarsest bucket that may be read', async (t) => {
  fc.assert(
    fc.property(
      optionsArbitrary,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40 }),
      (options, shares) => {
        const segments = planSegments(options);
        const length = options.toMs - options.fromMs;
        const edges = segments.flatMap(({ fromMs, toMs }) => [fromMs, toMs - 1]);
        const moments = shares.map((share) =>
          Math.min(options.fromMs + Math.floor(share * length), options.toMs - 1),
        );
        return [...edges, ...moments]
          .filter((moment) => moment >= options.fromMs && moment < options.toMs)
          .every((moment) => {
            const segment = segments.find(({ fromMs, toMs }) => fromMs <= moment && moment < toMs)!;
            return segment.grainSeconds === grainAt(moment, options);
          });
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('an empty range has no segments, and one of a millisecond is rows', async (t) => {
  const options = {
    boundariesMs: [],
    grains: GRAINS.totals,
    stale: new Map(),
    nowMs: NOW_MS,
    rowsFromMs: NOW_MS,
  };
  t.same(planSegments({ ...options, fromMs: NOW_MS, toMs: NOW_MS }), []);
  t.same(planSegments({ ...options, fromMs: SLOT_MS, toMs: SLOT_MS + 1 }), [
    { grainSeconds: 'rows', fromMs: SLOT_MS, toMs: SLOT_MS + 1 },
  ]);
});

t.test('ten years of stale half hours are planned without looking at their minutes', async (t) => {
  const fromMs = Date.parse('2016-01-01T00:00:00Z');
  const toMs = Date.parse('2026-01-01T00:00:00Z');
  const all = (seconds: number) =>
    new Set(
      Array.from(
        { length: (toMs - fromMs) / (seconds * 1_000) },
        (_, index) => fromMs + index * seconds * 1_000,
      ),
    );
  let looks = 0;
  class Counting extends Set<number> {
    override has(value: number): boolean {
      looks += 1;
      return super.has(value);
    }
  }
  const stale = new Map([
    [1_800, new Counting(all(1_800))],
    [10_800, new Counting(all(10_800))],
    [86_400, new Counting(all(86_400))],
    [60, new Counting()],
    [10, new Counting()],
  ]);
  t.same(
    planSegments({
      fromMs,
      toMs,
      boundariesMs: [],
      grains: GRAINS.totals,
      stale,
      nowMs: NOW_MS,
      rowsFromMs: NOW_MS,
    }),
    [{ grainSeconds: 'rows', fromMs, toMs }],
  );
  t.equal(looks, (toMs - fromMs) / 1_800_000 + (toMs - fromMs) / 10_800_000 + (toMs - fromMs) / DAY_MS);
});
