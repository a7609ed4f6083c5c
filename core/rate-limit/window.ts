/**
 * The sliding window, as model and fallback. In production Postgres decides (the functions assay.limit_* in the
 * migrations), and a gateway uses this window only while Postgres is unavailable; tests check the two against each other.
 *
 * The guarantee: no interval of length `w` holds more than the quota. Time is cut into sub-buckets, K to a window, each
 * counting what was admitted in it. The sum of the newest K + 1, the oldest counted whole, covers every interval of
 * length `w` that ends now:
 *
 *     sub-buckets   │ 3 │ 0 │ 5 │ 2 │ 4 │ 1 │ 0 │           K = 6
 *     interval w      └──────────────────────┘ now
 *                     ▲ how much of this 3 is still inside is unknown: all of it counts
 *
 * The price is one sub-bucket: what left the interval up to w/K ago still counts. Alternatives not taken:
 *
 *     fixed window   │········QQQ│QQQ········│   2 Q across a boundary: each window is right, the interval is not
 *     token bucket   QQQ─refill─▸ Q              a full bucket and its refill: up to 2 Q in the first window
 *     two weighted   Q·(part of the last) + now  right only if the last window's calls came evenly
 *     log of times   exact, and as large as the quota
 *
 * Times are milliseconds on any one clock, amounts whole numbers. While a clock that stepped back catches up, time
 * stands still here, which frees nothing.
 */

/** The division of a window into sub-buckets. */
export type WindowShape = {
  /** Length of a sub-bucket. K of them make a window, or a little more. */
  widthMs: number;
  /** Number of sub-buckets kept: K + 1. */
  depth: number;
};

/** State of one window. Only the functions of this file change it. */
export type Window = {
  readonly shape: WindowShape;
  /** Index of the newest sub-bucket, counted from the clock's zero. */
  newest: number;
  /** Amount in each sub-bucket; sub-bucket i is at i mod depth. */
  readonly counts: Float64Array;
  /** The sum of `counts`. */
  sum: number;
};

/**
 * Sub-buckets per window. With 60, at most 1.7 % of a steady load is refused for the sake of certainty, and a window of
 * 60 s has leases of a second. Windows under a minute, which only logs have, are cut finer, to stay within 1 %.
 */
const SUB_BUCKETS_PER_WINDOW = { minute: 60, shorter: 100 };

/** Returns how a window of `windowS` seconds is cut. Stored counters are cut the same way: a change needs a migration. */
export function windowShape(windowS: number): WindowShape {
  const subBuckets = windowS < 60 ? SUB_BUCKETS_PER_WINDOW.shorter : SUB_BUCKETS_PER_WINDOW.minute;
  return { widthMs: Math.ceil((windowS * 1000) / subBuckets), depth: subBuckets + 1 };
}

/** Creates an empty window. */
export function createWindow(shape: WindowShape): Window {
  return { shape, newest: 0, counts: new Float64Array(shape.depth), sum: 0 };
}

/** Drops the sub-buckets that have left the window at `nowMs`. */
function slide(window: Window, nowMs: number): void {
  const { counts } = window;
  const { widthMs, depth } = window.shape;
  const index = Math.floor(nowMs / widthMs);
  if (index <= window.newest) return;
  if (index - window.newest >= depth) {
    counts.fill(0);
    window.sum = 0;
  } else {
    for (let next = window.newest + 1; next <= index; next += 1) {
      window.sum -= counts[next % depth] ?? 0;
      counts[next % depth] = 0;
    }
  }
  window.newest = index;
}

/**
 * Returns the amount that counts against the quota at `nowMs`.
 * @internal Exported for the model of the SQL in tests.
 */
export function used(window: Window, nowMs: number): number {
  slide(window, nowMs);
  return window.sum;
}

/** Returns the unused part of the quota, never negative. */
export function remaining(window: Window, nowMs: number, quota: number): number {
  return Math.max(0, quota - used(window, nowMs));
}

/** Counts `amount` now, regardless of the quota. */
export function charge(window: Window, nowMs: number, amount: number): void {
  slide(window, nowMs);
  add(window, window.newest, amount);
}

/**
 * Adds `difference` to the sub-bucket charged at `chargedMs`, down to 0. Charges that have left the window need no
 * correction.
 */
export function correct(window: Window, chargedMs: number, difference: number): void {
  const index = Math.min(window.newest, Math.floor(chargedMs / window.shape.widthMs));
  if (window.newest - index < window.shape.depth) add(window, index, difference);
}

function add(window: Window, index: number, amount: number): void {
  const place = index % window.shape.depth;
  const before = window.counts[place] ?? 0;
  const after = Math.max(0, before + amount);
  window.counts[place] = after;
  window.sum += after - before;
}

/**
 * Returns the milliseconds until at most `target` counts, if nothing more is admitted.
 * @internal Exported for the model of the SQL in tests.
 */
export function freeAfterMs(window: Window, nowMs: number, target: number): number {
  let left = used(window, nowMs);
  if (left <= target) return 0;
  const { widthMs, depth } = window.shape;
  for (let index = window.newest - depth + 1; index <= window.newest; index += 1) {
    if (index < 0) continue;
    left -= window.counts[index % depth] ?? 0;
    if (left <= target) return (index + depth) * widthMs - nowMs;
  }
  return (window.newest + depth) * widthMs - nowMs;
}

/** Returns the milliseconds until one more is admitted; 0 means now. */
export function retryAfterMs(window: Window, nowMs: number, quota: number): number {
  return freeAfterMs(window, nowMs, quota - 1);
}

/** Returns the milliseconds until nothing counts any more. */
export function resetAfterMs(window: Window, nowMs: number): number {
  return freeAfterMs(window, nowMs, 0);
}
