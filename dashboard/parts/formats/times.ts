/** Moments as the pages show them: in the browser's time zone, with the whole moment in the title. */
import { lazyFormat } from './lazy-format.ts';

const MINUTES = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const CLOCK = { ...MINUTES, second: '2-digit' } as const;
const MONTH_DAY = { month: 'short', day: '2-digit' } as const;

const formatOf = (options: Intl.DateTimeFormatOptions) =>
  lazyFormat<Date>(() => new Intl.DateTimeFormat(undefined, options));
const DATE_TIME = formatOf({ year: 'numeric', ...MONTH_DAY, ...CLOCK });
const DAY_TIME = formatOf({ ...MONTH_DAY, ...CLOCK });
const TIME = formatOf(CLOCK);
const DAY_MINUTES = formatOf({ ...MONTH_DAY, ...MINUTES });
const DAY = formatOf(MONTH_DAY);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The time of today, the day and time of another day. */
export function shortTime(moment: string | number, nowMs: number): string {
  const at = new Date(moment);
  const now = new Date(nowMs);
  if (at.toDateString() === now.toDateString()) return TIME.format(at);
  return at.getFullYear() === now.getFullYear() ? DAY_TIME.format(at) : DATE_TIME.format(at);
}

/** The whole moment, with its zone. */
export function fullTime(moment: string | number): string {
  const at = new Date(moment);
  return `${DATE_TIME.format(at)} (${at.toISOString()})`;
}

/** A day with its time, without seconds. */
export function dayAndMinutes(moment: number): string {
  return DAY_MINUTES.format(new Date(moment));
}

/** A day without its time. */
export function day(moment: string | number): string {
  return DAY.format(new Date(moment));
}

/**
 * How long ago.
 * @example ago(now - 90_000, now) // '1 min ago'
 */
export function ago(moment: string | number, nowMs: number): string {
  const ms = nowMs - new Date(moment).getTime();
  if (ms < 0) return `in ${length(-ms)}`;
  return ms < 5_000 ? 'just now' : `${length(ms)} ago`;
}

function length(ms: number): string {
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / 60_000)} min`;
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} d`;
}
