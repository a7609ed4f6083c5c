/** Splits a range of time into buckets of roll-ups and rows. */
import { type Grain, readableFromMs } from './families.ts';

/** The beginnings of stale buckets in milliseconds since the epoch, by the seconds of their grain. */
export type StaleBuckets = ReadonlyMap<number, ReadonlySet<number>>;

/** A part of a range, from `fromMs` up to `toMs`: whole buckets of one grain, or rows. */
export type Segment = { grainSeconds: number | 'rows'; fromMs: number; toMs: number };

export type SegmentOptions = {
  fromMs: number;
  toMs: number;
  /** Times that no bucket may lie across, in ascending order; those outside of the range have no effect. */
  boundariesMs: readonly number[];
  /** Grains of the family to be read, from the finest to the coarsest. */
  grains: readonly Grain[];
  stale: StaleBuckets;
  nowMs: number;
  /** Rows are read from here on: roll-ups may not have these moments yet. */
  rowsFromMs: number;
};

/**
 * Splits a range into segments, in ascending order and without gaps: each time is read in the coarsest bucket that is whole,
 * not stale, and kept. A segment of buckets may go on across boundaries, which then lie between its buckets.
 */
export function planSegments(options: SegmentOptions): Segment[] {
  const { fromMs, toMs, boundariesMs, grains, nowMs, rowsFromMs } = options;
  const segments: Segment[] = [];
  const add = (grainSeconds: Segment['grainSeconds'], from: number, to: number) => {
    if (from >= to) return;
    const last = segments.at(-1);
    if (last?.grainSeconds === grainSeconds) last.toMs = to;
    else segments.push({ grainSeconds, fromMs: from, toMs: to });
  };
  const isReadable = readability(options);
  /** Covers [from, to) with buckets of the grain at `index` and of finer ones. */
  const cover = (from: number, to: number, index: number) => {
    const grain = grains[index];
    if (grain === undefined) return add('rows', from, to);
    // Without looking at each of many old buckets.
    if (to <= readableFromMs(grain, nowMs)) return cover(from, to, index - 1);
    const lengthMs = grain.seconds * 1_000;
    let at = Math.ceil(from / lengthMs) * lengthMs;
    if (at + lengthMs > to) return cover(from, to, index - 1);
    cover(from, at, index - 1);
    for (; at + lengthMs <= to; at += lengthMs) {
      if (isReadable(grain, at)) add(grain.seconds, at, at + lengthMs);
      else cover(at, at + lengthMs, index - 1);
    }
    cover(at, to, index - 1);
  };
  const settledMs = Math.min(Math.max(rowsFromMs, fromMs), toMs);
  const cuts = boundariesMs.filter((boundary) => boundary > fromMs && boundary < settledMs);
  let from = fromMs;
  for (const to of [...cuts, settledMs]) {
    if (from < to) cover(from, to, grains.length - 1);
    from = to;
  }
  add('rows', settledMs, toMs);
  return segments;
}

function readability({ stale, nowMs }: SegmentOptions): (grain: Grain, beginsMs: number) => boolean {
  return (grain, beginsMs) =>
    beginsMs >= readableFromMs(grain, nowMs) && !(stale.get(grain.seconds)?.has(beginsMs) ?? false);
}
