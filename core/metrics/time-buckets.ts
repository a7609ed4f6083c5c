/**
 * Divides a range into the buckets of a time zone's clock and calendar: days of 23, 24 and 25 hours, weeks from Monday,
 * months. Pure: the rules of time zones come with the runtime.
 */
import { Temporal } from 'temporal-polyfill';
import type { BucketUnit } from '../contracts/metrics.ts';

/** A range from `fromMs` up to, but not including, `toMs`, in milliseconds since the epoch. */
export type Range = { fromMs: number; toMs: number };

/** A unit that a range is divided by. */
export type Unit = Exclude<BucketUnit, 'auto'>;

const MINUTE_MS = 60_000;
/** The units that divide hours, by their length. */
const CLOCK_UNITS: ReadonlyMap<Unit, number> = new Map([
  ['minute', MINUTE_MS],
  ['5m', 5 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
]);
/** Minimum length of a bucket of each unit, except where a change of the clock cuts it. */
const LEAST_MS: Readonly<Record<Exclude<Unit, 'none'>, number>> = {
  minute: MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  hour: 60 * MINUTE_MS,
  day: 24 * 60 * MINUTE_MS,
  week: 7 * 24 * 60 * MINUTE_MS,
  month: 28 * 24 * 60 * MINUTE_MS,
};
/** Fewer would hide the shape of a week by hours; more are finer than a chart has room for. */
const MOST_AUTO_BUCKETS = 200;

/** Returns whether the runtime knows a time zone by this name. */
export function isTimeZone(name: string): boolean {
  // A difference from UTC, such as +02:00, is no zone of the IANA database.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the maximum number of buckets that a range can have with a unit. */
export function mostBuckets({ fromMs, toMs }: Range, unit: Unit): number {
  return unit === 'none' ? 1 : Math.ceil((toMs - fromMs) / LEAST_MS[unit]) + 1;
}

/** Returns the finest unit that divides a range into at most 200 buckets; months where none does. */
export function autoUnit(range: Range): Unit {
  const units: Unit[] = ['minute', '5m', 'hour', 'day', 'week'];
  return units.find((unit) => mostBuckets(range, unit) - 1 <= MOST_AUTO_BUCKETS) ?? 'month';
}

const inZone = (ms: number, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);

/**
 * Returns when the buckets of a range begin, ascending. The first one begins at or before the range, and each ends where the
 * next one begins; an hour that a change of the clock cuts is two.
 */
export function bucketBegins(range: Range, unit: Unit, timeZone: string): number[] {
  if (unit === 'none') return [range.fromMs];
  const stepMs = CLOCK_UNITS.get(unit);
  if (stepMs !== undefined) return clockBegins(range, stepMs, timeZone);
  return calendarBegins(range, unit as CalendarUnit, timeZone);
}

const offsetMsAt = (ms: number, timeZone: string) => Math.round(inZone(ms, timeZone).offsetNanoseconds / 1e6);

/** Returns the first change of the clock after `ms`; infinity when there is none. */
function nextChange(ms: number, timeZone: string): number {
  return inZone(ms, timeZone).getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
}

function clockBegins({ fromMs, toMs }: Range, stepMs: number, timeZone: string): number[] {
  const floor = (ms: number, offsetMs: number) => Math.floor((ms + offsetMs) / stepMs) * stepMs - offsetMs;
  const begins: number[] = [];
  const firstOffset = offsetMsAt(fromMs, timeZone);
  let begin = floor(fromMs, firstOffset);
  if (offsetMsAt(begin, timeZone) !== firstOffset) begin = nextChange(begin, timeZone);
  while (begin < toMs) {
    const offsetMs = offsetMsAt(begin, timeZone);
    const change = nextChange(begin, timeZone);
    const end = Math.min(change, toMs);
    for (let at = begin; at < end; at = floor(at, offsetMs) + stepMs) begins.push(at);
    begin = change;
  }
  return begins;
}

type CalendarUnit = 'day' | 'week' | 'month';
const STEPS = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const;

function calendarBegins({ fromMs, toMs }: Range, unit: CalendarUnit, timeZone: string): number[] {
  const begins: number[] = [];
  let date = firstDate(inZone(fromMs, timeZone).toPlainDate(), unit);
  let begin = startOf(date, timeZone);
  // A clock that is set back across midnight shows the day before once more, after the day has begun.
  while (begin > fromMs) {
    date = date.subtract(STEPS[unit]);
    begin = startOf(date, timeZone);
  }
  for (; begin < toMs; begin = startOf(date, timeZone)) {
    // A zone that moves across the date line skips a day, which then begins with the next one.
    if (begin !== begins.at(-1)) begins.push(begin);
    date = date.add(STEPS[unit]);
  }
  const first = begins.findLastIndex((at) => at <= fromMs);
  return first > 0 ? begins.slice(first) : begins;
}

function firstDate(date: Temporal.PlainDate, unit: CalendarUnit): Temporal.PlainDate {
  if (unit === 'week') return date.subtract({ days: date.dayOfWeek - 1 });
  return unit === 'month' ? date.with({ day: 1 }) : date;
}

/** Returns the first millisecond of a date. */
function startOf(date: Temporal.PlainDate, timeZone: string): number {
  return date.toZonedDateTime({ timeZone }).epochMilliseconds;
}

/**
 * Returns the range before a range, of the same length by the calendar: as many months before one of whole local months, as
 * many days before one of whole local days, as many milliseconds before any other.
 */
export function previousRange({ fromMs, toMs }: Range, timeZone: string): Range {
  const [from, to] = [fromMs, toMs].map((ms) => inZone(ms, timeZone).toPlainDate()) as [
    Temporal.PlainDate,
    Temporal.PlainDate,
  ];
  const isWhole = startOf(from, timeZone) === fromMs && startOf(to, timeZone) === toMs;
  if (!isWhole) return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
  const largestUnit = from.day === 1 && to.day === 1 ? 'month' : 'day';
  return { fromMs: startOf(from.subtract(from.until(to, { largestUnit })), timeZone), toMs: fromMs };
}
