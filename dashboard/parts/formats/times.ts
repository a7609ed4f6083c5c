/**
 * Moments as the pages show them: in the browser's time zone, with the whole moment in the title. Written by hand: the first use
 * of Intl takes 31 to 77 ms, and the list of requests would wait for it.
 */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (value: number) => String(value).padStart(2, '0');
const minutesOf = (at: Date) => `${two(at.getHours())}:${two(at.getMinutes())}`;
const clockOf = (at: Date) => `${minutesOf(at)}:${two(at.getSeconds())}`;
const dayOf = (at: Date) => `${MONTHS[at.getMonth()]} ${two(at.getDate())}`;
const wholeOf = (at: Date) => `${dayOf(at)}, ${at.getFullYear()}, ${clockOf(at)}`;

/** The browser's time zone, by its IANA name. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The time of today, the day and time of another day. */
export function shortTime(moment: string | number, nowMs: number): string {
  const at = new Date(moment);
  const now = new Date(nowMs);
  if (at.toDateString() === now.toDateString()) return clockOf(at);
  return at.getFullYear() === now.getFullYear() ? `${dayOf(at)}, ${clockOf(at)}` : wholeOf(at);
}

/** The whole moment, with its zone. */
export function fullTime(moment: string | number): string {
  const at = new Date(moment);
  return `${wholeOf(at)} (${at.toISOString()})`;
}

/** The time of a day, without seconds. */
export function minutes(moment: number): string {
  return minutesOf(new Date(moment));
}

/** A day with its time, without seconds. */
export function dayAndMinutes(moment: number): string {
  const at = new Date(moment);
  return `${dayOf(at)}, ${minutesOf(at)}`;
}

/** A day without its time. */
export function day(moment: string | number): string {
  return dayOf(new Date(moment));
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
