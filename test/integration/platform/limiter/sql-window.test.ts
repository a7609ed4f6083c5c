/** The database's window against core/rate-limit/window.ts, and against a log of times for what only the database does. */
import fc from 'fast-check';
import t from 'tap';
import { correct, createWindow, resetAfterMs, retryAfterMs, windowShape } from '#core/rate-limit/mod.ts';
import { used } from '#core/rate-limit/window.ts';
import { admit } from '../../../support/window-model.ts';
import { databaseFor } from '../../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;

/** Replays a schedule on the SQL functions of which counters are made. When the clock steps back, counters stand still. */
await sql`
  create function assay.replay(width integer, depth integer, times bigint[], quotas bigint[], amounts bigint[], backs bigint[])
  returns table (used bigint, retry_ms bigint, reset_ms bigint) language plpgsql as $$
  declare
    w    assay.limit_window := (60, width, depth, 0, 0, 0, array[0::bigint]);
    seen bigint := 0;
  begin
    for i in 1 .. cardinality(times) loop
      seen := greatest(seen, times[i]);
      w := assay.limit_slide(w, seen);
      if backs[i] >= 0 then
        w := assay.limit_add(w, seen - backs[i], -amounts[i]);
      elsif assay.limit_used(w) < quotas[i] then
        w := assay.limit_add(w, seen, amounts[i]);
      end if;
      used := assay.limit_used(w);
      retry_ms := assay.limit_free_at(w, seen, quotas[i] - 1) - seen;
      reset_ms := assay.limit_free_at(w, seen, 0) - seen;
      return next;
    end loop;
  end $$`;

const SHAPES = [windowShape(60), windowShape(5), { widthMs: 10, depth: 8 }];

const schedules = fc.constantFrom(...SHAPES).chain(({ widthMs, depth }) => {
  const spanMs = widthMs * depth;
  const wait = fc.oneof(
    { weight: 4, arbitrary: fc.nat(widthMs) },
    { weight: 3, arbitrary: fc.nat(Math.floor(spanMs / 3)) },
    { weight: 1, arbitrary: fc.constantFrom(spanMs - widthMs, spanMs, spanMs + 1) },
    { weight: 1, arbitrary: fc.integer({ min: -spanMs, max: 2 * spanMs }) },
  );
  const step = fc.record({
    waitMs: wait,
    quota: fc.integer({ min: 1, max: 20 }),
    amount: fc.integer({ min: 1, max: 4 }),
    backMs: fc.oneof(
      { weight: 5, arbitrary: fc.constant(-1) },
      { weight: 1, arbitrary: fc.nat(spanMs + widthMs) },
    ),
  });
  return fc.record({
    shape: fc.constant({ widthMs, depth }),
    startMs: fc.integer({ min: 1_000_000, max: 2_000_000_000_000 }),
    steps: fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
  });
});

t.test('the SQL window counts exactly as the model does, to the millisecond', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async ({ shape, startMs, steps }) => {
      const window = createWindow(shape);
      let clockMs = startMs;
      let nowMs = 0;
      const times: number[] = [];
      const expected = steps.map(({ waitMs, quota, amount, backMs }) => {
        clockMs += waitMs;
        times.push(clockMs);
        nowMs = Math.max(nowMs, clockMs);
        used(window, nowMs);
        if (backMs >= 0) correct(window, nowMs - backMs, -amount);
        else admit(window, nowMs, amount, quota);
        return [used(window, nowMs), retryAfterMs(window, nowMs, quota), resetAfterMs(window, nowMs)];
      });
      const rows = await sql<{ used: string; retry_ms: string; reset_ms: string }[]>`
        select * from assay.replay(${shape.widthMs}, ${shape.depth}, ${times}::bigint[],
          ${steps.map(({ quota }) => quota)}::bigint[], ${steps.map(({ amount }) => amount)}::bigint[],
          ${steps.map(({ backMs }) => backMs)}::bigint[])`;
      const actual = rows.map((row) => [Number(row.used), Number(row.retry_ms), Number(row.reset_ms)]);
      return JSON.stringify(actual) === JSON.stringify(expected);
    }),
    { numRuns: 1_500, seed: 3 },
  );
});

/** Charges two windows, makes a third from them, and returns what it counts at later times. */
await sql`
  create function assay.remember(
    source_s integer[], widths integer[], depths integer[], times bigint[], made_ms bigint,
    window_s integer, width integer, depth integer, later bigint[]
  ) returns setof bigint language plpgsql as $$
  declare
    windows assay.limit_window[] := '{}';
    made    assay.limit_window;
  begin
    for i in 1 .. cardinality(source_s) loop
      windows := windows || row(source_s[i], widths[i], depths[i], 0, 0, 0, array[0::bigint])::assay.limit_window;
    end loop;
    for i in 1 .. cardinality(times) loop
      for j in 1 .. cardinality(windows) loop
        windows[j] := assay.limit_slide(windows[j], times[i]);
      end loop;
      windows := assay.limit_charge(windows, times[i], 1);
    end loop;
    for j in 1 .. cardinality(windows) loop
      windows[j] := assay.limit_slide(windows[j], made_ms);
    end loop;
    made := assay.limit_new_window(windows, window_s, width, depth, made_ms);
    for i in 1 .. cardinality(later) loop
      made := assay.limit_slide(made, later[i]);
      return next assay.limit_used(made);
    end loop;
  end $$`;

t.test(
  'a new window of a counter counts at least what is in its interval, as far back as another window reaches',
  async () => {
    const WINDOWS_S = [60, 90, 600, 3_600];
    const memories = fc.record({
      sources: fc.uniqueArray(fc.constantFrom(...WINDOWS_S), { minLength: 1, maxLength: 2 }),
      windowS: fc.constantFrom(...WINDOWS_S, 61, 7_200),
      agesMs: fc.array(fc.oneof(fc.nat(60_000), fc.nat(3_700_000)), { minLength: 1, maxLength: 30 }),
      laterMs: fc.array(fc.oneof(fc.nat(60_000), fc.nat(3_700_000)), { minLength: 1, maxLength: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(memories, async ({ sources, windowS, agesMs, laterMs }) => {
        const madeMs = 1_700_000_000_123;
        const times = agesMs.map((ageMs) => madeMs - ageMs).sort((a, b) => a - b);
        const later = laterMs.map((ms) => madeMs + ms).sort((a, b) => a - b);
        const shape = windowShape(windowS);
        const rows = await sql<{ held: string }[]>`
        select held from assay.remember(
          ${sources}::int[], ${sources.map((s) => windowShape(s).widthMs)}::int[],
          ${sources.map((s) => windowShape(s).depth)}::int[], ${times}::bigint[], ${madeMs},
          ${windowS}, ${shape.widthMs}, ${shape.depth}, ${later}::bigint[]) as r (held)`;
        const longestMs = Math.max(...sources) * 1_000;
        return rows.every(({ held }, place) => {
          const sinceMs = Math.max(later[place]! - windowS * 1_000, madeMs - longestMs);
          return Number(held) >= times.filter((atMs) => atMs >= sinceMs).length;
        });
      }),
      { numRuns: 1_000, seed: 4 },
    );
  },
);
