/** Buckets of a chart: where they lie in time, and what a drag or a key selects of them. Pure. */

/** From a moment up to, but not including, another one, in milliseconds since the epoch. */
export type Span = { from: number; to: number };

/** The buckets of a range. The first one may begin before it, and the last one may end after it. */
export type Buckets = Span & { begins: readonly number[] };

/** The shortest range that a zoom leads to: the shortest bucket. */
const LEAST_ZOOM_MS = 60_000;

/** Returns the part of a bucket that is inside the range. */
export function spanOf({ begins, from, to }: Buckets, index: number): Span {
  return { from: Math.max(from, begins[index]!), to: Math.min(to, begins[index + 1] ?? to) };
}

/** Returns the end of the last bucket as the axis shows it: as long after its beginning as the bucket before was long. */
function endOf({ begins, to }: Buckets): number {
  const last = begins.at(-1)!;
  const before = begins.at(-2);
  return before === undefined ? to : Math.max(to, last + (last - before));
}

/** Returns what the axis shows: from the beginning of the first bucket to the end of the last. */
export function domainOf(buckets: Buckets): Span {
  return {
    from: buckets.begins[0] ?? buckets.from,
    to: buckets.begins.length === 0 ? buckets.to : endOf(buckets),
  };
}

/** Returns the middles of the buckets: bars and points stand there, so that the nearest one is the bucket of a place. */
export function middlesOf(buckets: Buckets): number[] {
  const end = domainOf(buckets).to;
  return buckets.begins.map((begin, index) => (begin + (buckets.begins[index + 1] ?? end)) / 2);
}

/** Returns the index of the bucket of a moment; the first or the last one for a moment outside of them. */
export function bucketAt({ begins }: Buckets, ms: number): number {
  return Math.max(
    0,
    begins.findLastIndex((begin) => begin <= ms),
  );
}

/** Returns the whole buckets that a selection touches, as far as they are inside the range. */
export function alignSpan(buckets: Buckets, { from, to }: Span): Span {
  const first = spanOf(buckets, bucketAt(buckets, from));
  // A selection that ends where a bucket begins does not touch it.
  const last = spanOf(buckets, bucketAt(buckets, Math.max(from, to - 1)));
  return longEnough({ from: first.from, to: last.to });
}

function longEnough({ from, to }: Span): Span {
  return { from, to: Math.max(to, from + LEAST_ZOOM_MS) };
}

/** Returns half of the range, around a bucket. */
export function zoomIn(buckets: Buckets, index: number): Span {
  const quarter = (buckets.to - buckets.from) / 4;
  const { from, to } = spanOf(buckets, index);
  const middle = (from + to) / 2;
  return longEnough({ from: Math.round(middle - quarter), to: Math.round(middle + quarter) });
}

/** Returns a range twice as long around the same middle, which ends by now. */
export function zoomOut({ from, to }: Span, nowMs: number): Span {
  const half = (to - from) / 2;
  const end = Math.max(to, Math.min(to + half, nowMs));
  return { from: Math.round(end - 4 * half), to: Math.round(end) };
}
