/** The time axis of a session: from its first request to its last answer, with or without its pauses. Pure. */
import type { SessionRequest } from '#core/contracts/session.ts';

/** In milliseconds since the epoch. */
export type Span = { from: number; to: number };

/** A pause that is left out keeps this share of the time in which something ran, so that it can be seen. */
const PAUSE_SHARE = 0.03;

/** Returns when a request ran. */
export function spanOf({ created_at, response_created_at, delay_ms }: SessionRequest): Span {
  const from = Date.parse(created_at);
  if (delay_ms !== null) return { from, to: from + delay_ms };
  return { from, to: response_created_at === null ? from : Math.max(from, Date.parse(response_created_at)) };
}

/** Joins spans that touch; they are in the order of their beginnings. */
function busySpans(spans: readonly Span[]): Span[] {
  const busy: Span[] = [];
  for (const { from, to } of spans) {
    const last = busy.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else busy.push({ from, to });
  }
  return busy;
}

export type Axis = {
  /** Returns the place of a moment: 0 at the beginning, 1 at the end. */
  place: (ms: number) => number;
  /** Of the whole session. */
  lengthMs: number;
  /** In which nothing ran. */
  pausesMs: number;
};

/**
 * Returns the axis of spans, which are in the order of their beginnings.
 * @param isWhole pauses are as long as they were
 */
export function axisOf(spans: readonly Span[], isWhole: boolean): Axis {
  const busy = busySpans(spans);
  const runMs = busy.reduce((sum, { from, to }) => sum + to - from, 0);
  const lengthMs = busy.length === 0 ? 0 : busy.at(-1)!.to - busy[0]!.from;
  const longestPause = isWhole ? Infinity : Math.max(1, runMs * PAUSE_SHARE);
  // Where each busy span begins on the axis, in milliseconds of it.
  const begins: number[] = [];
  let end = 0;
  for (const [index, { from, to }] of busy.entries()) {
    const before = busy[index - 1];
    if (before !== undefined) end += Math.min(longestPause, from - before.to);
    begins.push(end);
    end += to - from;
  }
  const place = (ms: number) => {
    let [low, high] = [0, busy.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (busy[middle]!.from <= ms) low = middle;
      else high = middle - 1;
    }
    const span = busy[low];
    if (span === undefined || end === 0) return 0;
    return Math.max(0, Math.min(1, (begins[low]! + Math.min(ms, span.to) - span.from) / end));
  };
  return { place, lengthMs, pausesMs: lengthMs - runMs };
}
