/** The time range of a page: in the address as `range=24h`, or as two moments for a link that stays true. */
import { useMemo } from 'preact/hooks';
import { explain } from '#core/filter/query-text/mod.ts';
import { useAddress } from './address.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Ranges that end now, with their lengths. */
export const PRESETS: readonly { name: string; label: string; ms: number }[] = [
  { name: '1h', label: 'Last hour', ms: HOUR_MS },
  { name: '24h', label: 'Last 24 hours', ms: DAY_MS },
  { name: '7d', label: 'Last 7 days', ms: 7 * DAY_MS },
  { name: '30d', label: 'Last 30 days', ms: 30 * DAY_MS },
  { name: '90d', label: 'Last 90 days', ms: 90 * DAY_MS },
];
/** The name of the range that excludes nothing. */
export const ALL_TIME = 'all';
/**
 * Of a page whose address names none.
 * @internal for tests
 */
export const DEFAULT_RANGE = '7d';

/** Relative ranges begin at a whole minute, so that their answers can be kept for one. */
const STEP_MS = MINUTE_MS;

export type Range = {
  /** Milliseconds since the epoch; the range is [from, to). */
  from: number;
  to: number;
  /** As the address names it. */
  name: string;
  /** Whether it ends now and moves on. */
  isRelative: boolean;
};

function readMoments(name: string): { from: number; to: number } | null {
  const [from, to] = name.split('..').map((moment) => Date.parse(moment));
  return from !== undefined && to !== undefined && from < to ? { from, to } : null;
}

/**
 * Reads a range; a text that names none is the default one.
 */
export function readRange(name: string | undefined, nowMs: number): Range {
  const moments = readMoments(name ?? '');
  if (moments !== null) return { ...moments, name: name!, isRelative: false };
  const isAll = name === ALL_TIME;
  const preset =
    PRESETS.find((one) => one.name === name) ?? PRESETS.find((one) => one.name === DEFAULT_RANGE)!;
  const to = Math.ceil((nowMs + 1) / STEP_MS) * STEP_MS;
  if (isAll) return { from: 0, to, name: ALL_TIME, isRelative: true };
  return { from: to - preset.ms, to, name: preset.name, isRelative: true };
}

/** Returns two moments as the address names them. */
export function rangeName(from: number, to: number): string {
  return `${new Date(from).toISOString()}..${new Date(to).toISOString()}`;
}

/**
 * Adds a range to a query text.
 * @example withRange('status:>=500', range) // '(status:>=500) created:2026-11-01T00:00:00.000Z..2026-11-08T00:00:00.000Z'
 */
export function withRange(q: string, { from, to }: Pick<Range, 'from' | 'to'>): string {
  // A fault is for the API to tell, and parentheses around it may hide it: `a) OR (b`.
  if (from === 0 || explain(q).error !== null) return q;
  const created = `created:${rangeName(from, to)}`;
  return q.trim() === '' ? created : `(${q}) ${created}`;
}

/**
 * A page starts within so long. Until then, the moment by which ranges are read stands ahead of the clock, so that what it calls ahead
 * and what it then shows is the same range, and none that has ended meanwhile.
 */
const STARTING_MS = 5_000;
const STARTED_MS = Date.now() + STARTING_MS;

/** The moment by which ranges are read: within the same minute, an address is the same range. */
export function minuteNow(): number {
  return Math.floor(Math.max(Date.now(), STARTED_MS) / STEP_MS) * STEP_MS;
}

/** Returns the range of the address, and the way to change it. A change leaves the place in a list. */
export function useRange(): Range & { set: (name: string) => void } {
  const { query, set } = useAddress();
  const minute = minuteNow();
  const range = useMemo(() => readRange(query.range, minute), [query.range, minute]);
  return { ...range, set: (name) => set({ range: name === DEFAULT_RANGE ? null : name, at: null }) };
}
