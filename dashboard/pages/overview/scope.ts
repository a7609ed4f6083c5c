/** What the overview shows: the range, the query and the period before, all of the address. */
import { useEffect, useState } from 'preact/hooks';
import type { Span } from '../../parts/chart/buckets.ts';
import { timeZone } from '../../parts/formats/times.ts';
import { type Address, addressNow, href, useAddress } from '../../state/address.ts';
import { minuteNow, msToNextRange, type Range, rangeName, readRange, useRange } from '../../state/range.ts';
import { askAhead } from './data.ts';
import type { Scope } from './measures.ts';

export type OverviewScope = Scope & {
  rangeName: string;
  isCompared: boolean;
  zoom: (span: Span) => void;
  /** Returns the address of requests: of a bucket in place of the range, and with one more condition. */
  requests: (bucket: Span | null, condition: string | null) => string;
};

/** Returns a query text with a condition added. */
function both(q: string, condition: string | null): string {
  if (condition === null) return q;
  return q.trim() === '' ? condition : `(${q}) ${condition}`;
}

/** Renders anew with each minute, because a range that ends now has moved on. */
function useEachMinute(isOn: boolean): void {
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each turn waits for the next one
  useEffect(() => {
    if (!isOn) return;
    const controller = new AbortController();
    const next = () => setTurn((before) => before + 1);
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') next();
      else document.addEventListener('visibilitychange', next, { once: true, signal: controller.signal });
    }, msToNextRange());
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [isOn, turn]);
}

/** Reads what the page's queries are about. */
function readScope({ q = '' }: Address['query'], { from, to }: Range): Scope {
  return { q, range: { from, to }, timeZone: timeZone() };
}

/** Asks for the figures of the address before the page is there. */
export function askOverviewAhead(): void {
  const { query } = addressNow();
  askAhead(readScope(query, readRange(query.range, minuteNow())));
}

/** Returns what the page's queries are about. */
export function useScope(): OverviewScope {
  const { query } = useAddress();
  const range = useRange();
  useEachMinute(range.isRelative);
  const scope = readScope(query, range);
  const { q } = scope;
  return {
    ...scope,
    rangeName: range.name,
    isCompared: query.compare === '1',
    zoom: ({ from, to }) => range.set(rangeName(from, to)),
    requests: (bucket, condition) =>
      href('/requests', {
        q: both(q, condition),
        range: bucket === null ? range.name : rangeName(bucket.from, bucket.to),
      }),
  };
}
