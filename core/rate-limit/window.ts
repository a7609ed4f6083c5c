/**
 * The sliding window: in no interval of `w` is more admitted than the quota. Time is cut into sub-buckets, K of them
 * to a window, and each counts what was admitted in it. The sum of the K + 1 newest, the oldest counted whole, covers
 * every interval of `w` that ends now:
 *
 *     sub-buckets   │ 3 │ 0 │ 5 │ 2 │ 4 │ 1 │ 0 │           K = 6
 *     interval w      └──────────────────────┘ now
 *                     ▲ how much of this 3 is still inside is not known: all of it counts
 *
 * So the price of certainty is one sub-bucket: what left the interval up to w/K ago still counts. Not taken:
 *
 *     fixed window   │········QQQ│QQQ········│   2 Q across a boundary: each side is right, the interval is not
 *     token bucket   QQQ─refill─▸ Q              a full bucket and its refill: up to 2 Q in the first window
 *     two weighted   Q·(part of the last) + now  right only if the last one's calls came evenly
 *     log of times   exact, and as large as the quota
 *
 * The database counts the same way (assay.limit_* in the migrations); tests hold the two against each other. Times are
 * milliseconds on any one clock, amounts whole numbers. A clock that steps back stands still until it has caught up:
 * that frees nothing.
 */

export type WindowShape = {
  /** How long a sub-bucket is. K of them are a window or a little more. */
  widthMs: number;
  /** How many are kept: K + 1. */
  depth: number;
};

/** The state of one window; only the functions of this file touch it. */
export type Window = {
  readonly shape: WindowShape;
  /** Of the newest sub-bucket, counted from the clock's zero. */
  newest: number;
  /** Sub-bucket i is at i mod depth. */
  readonly counts: Float64Array;
  /** The sum of `counts`. */
  sum: number;
};

/**
 * 60 sub-buckets: at most 1.7 % of a steady load is refused for certainty's sake, and a window of 60 s has leases of a
 * second. Windows under a minute, which only logs have, are cut finer, to stay within 1 %.
 */
const SUB_BUCKETS_PER_WINDOW = { minute: 60, shorter: 100 };

/** How a window of `windowS` seconds is cut. Counters on disk are cut so too: a change here needs a migration. */
export function windowShape(windowS: number): WindowShape {
  const subBuckets = windowS < 60 ? SUB_BUCKETS_PER_WINDOW.shorter : SUB_BUCKETS_PER_WINDOW.minute;
  return { widthMs: Math.ceil((windowS * 1000) / subBuckets), depth: subBuckets + 1 };
}

/** An empty window. */
export function createWindow(shape: WindowShape): Window {
  return { shape, newest: 0, counts: new Float64Array(shape.depth), sum: 0 };
}

/** Lets go of the sub-buckets that `nowMs` has left behind. */
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

/** What counts against the quota at `nowMs`. */
export function used(window: Window, nowMs: number): number {
  slide(window, nowMs);
  return window.sum;
}

/** What is left of the quota; never negative. */
export function remaining(window: Window, nowMs: number, quota: number): number {
  return Math.max(0, quota - used(window, nowMs));
}

/**
 * Admits and counts `amount` if anything is left. A call counts 1, so that the quota is never passed; what a call will
 * cost is an estimate, so that the last one may pass it by its own cost.
 */
export function admit(window: Window, nowMs: number, amount: number, quota: number): boolean {
  if (used(window, nowMs) >= quota) return false;
  charge(window, nowMs, amount);
  return true;
}

/** Counts `amount` now, whatever the quota. */
export function charge(window: Window, nowMs: number, amount: number): void {
  slide(window, nowMs);
  add(window, window.newest, amount);
}

/**
 * Corrects what was charged at `chargedMs` by `difference`, down to nothing. What has left the window since needs no
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

/** Milliseconds until at most `target` counts, if nothing more is admitted. */
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

/** Milliseconds until one more is admitted; 0: now. */
export function retryAfterMs(window: Window, nowMs: number, quota: number): number {
  return freeAfterMs(window, nowMs, quota - 1);
}

/** Milliseconds until nothing counts any more. */
export function resetAfterMs(window: Window, nowMs: number): number {
  return freeAfterMs(window, nowMs, 0);
}

/** What is counted, oldest first: each sub-bucket that holds something, and the last moment that belongs to it. */
export function subBuckets(window: Window): { lastMs: number; amount: number }[] {
  const { widthMs, depth } = window.shape;
  const buckets: { lastMs: number; amount: number }[] = [];
  for (let index = Math.max(0, window.newest - depth + 1); index <= window.newest; index += 1) {
    const amount = window.counts[index % depth] ?? 0;
    if (amount > 0) buckets.push({ lastMs: (index + 1) * widthMs - 1, amount });
  }
  return buckets;
}
