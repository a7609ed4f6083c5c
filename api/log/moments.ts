import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { parseTimestamp } from '#core/filter/mod.ts';

const DAY_MS = 86_400_000;
/** No request to log is older; an older time is a wrong unit, such as seconds for milliseconds. */
const EARLIEST_MS = Date.UTC(2020, 0, 1);
/** Clocks differ, by a time zone at worst. A time further ahead would create partitions that nothing else uses. */
const MAX_AHEAD_MS = DAY_MS;
/** Longer than any batch job takes. In milliseconds it must fit an integer of Postgres. */
const MAX_LATENCY_MS = 7 * DAY_MS;

/** The times at which a logged request may have begun, in milliseconds since the epoch. */
export type Period = { earliestMs: number; latestMs: number };

/** Returns the period from 2020, or from as long ago as records are kept (null: for ever), to a day from now. */
export function loggablePeriod(nowMs: number, retentionDays: number | null): Period {
  const keptFromMs = retentionDays === null ? 0 : nowMs - retentionDays * DAY_MS;
  return { earliestMs: Math.max(EARLIEST_MS, keptFromMs), latestMs: nowMs + MAX_AHEAD_MS };
}

/**
 * Reads when a request began: an RFC 3339 timestamp, or milliseconds since the epoch.
 * @throws AssayError invalid_body
 */
export function readCreatedAt(value: unknown, path: string, { earliestMs, latestMs }: Period): number {
  const ms = readMoment(value);
  if (ms !== null && ms >= earliestMs && ms <= latestMs) return ms;
  throw new AssayError(
    'invalid_body',
    `${path} must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z" or milliseconds since the epoch, ` +
      `from ${toText(earliestMs)} to a day from now, but is ${quoteValue(value)}`,
  );
}

/**
 * Reads when its response was complete: not before the request began, and at most seven days later.
 * @throws AssayError invalid_body
 */
export function readAnsweredAt(value: unknown, path: string, createdAtMs: number): number {
  const ms = readMoment(value);
  if (ms !== null && ms >= createdAtMs && ms <= createdAtMs + MAX_LATENCY_MS) return ms;
  throw new AssayError(
    'invalid_body',
    `${path} must be an RFC 3339 timestamp or milliseconds since the epoch, ` +
      `from request.created_at (${toText(createdAtMs)}) to 7 days later, but is ${quoteValue(value)}`,
  );
}

function readMoment(value: unknown): number | null {
  if (typeof value === 'number') return Math.floor(value);
  return typeof value === 'string' ? parseTimestamp(value) : null;
}

function toText(ms: number): string {
  return new Date(ms).toISOString();
}
