/** What the overview shows: the range, the query and the period before, all of the address. */
import { useEffect, useState } from 'preact/hooks';
import { namesExperiments, WITHOUT_EXPERIMENTS } from '../../client/sources.ts';
import type { Span } from '../../parts/chart/buckets.ts';
import { timeZone } from '../../parts/formats/times.ts';
import { type Address, addressNow, href, useAddress } from '../../state/address.ts';
import { minuteNow, type Range, rangeName, readRange, useRange } from '../../state/range.ts';
import { askAhead } from './data.ts';
import type { Scope } from './measures.ts';

/** Between two looks whether a minute has begun. */
const LOOK_MS = 1_000;

export type OverviewScope = Scope & {
  rangeName: string;
  isCompared: boolean;
  zoom: (span: Span) => void;
  /**
   * Returns the address of requests: of a bucket in place of the range, and with one more condition. Lists have the calls of
   * experiments, which the figures leave out unless the query speaks of them.
   */
  requests: (bucket: Span | null, condition: string | null) => string;
};

/** Returns a query text with a condition added. */
function both(q: string, condition: string | null): string {
  if (condition === null) return q;
  return q.trim() === '' ? condition : `(${q}) ${condition}`;
}

/** Renders anew with each minute, because a range that ends now has moved on. */
function useEachMinute(isOn: boolean): void {
  const [, setMinute] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setMinute(minuteNow());
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [isOn]);
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
        q: both(q, namesExperiments(q) ? condition : `${condition ?? ''} ${WITHOUT_EXPERIMENTS}`.trim()),
        range: bucket === null ? range.name : rangeName(bucket.from, bucket.to),
      }),
  };
}
