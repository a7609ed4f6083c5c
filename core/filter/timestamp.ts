const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The range of years that RFC 3339 can write and Postgres can read, in milliseconds since the epoch. */
export const EARLIEST_MS = -62_135_596_800_000; // 0001-01-01T00:00:00.000Z
export const LATEST_MS = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/**
 * Converts an RFC 3339 timestamp to milliseconds since the epoch. Digits beyond milliseconds are cut off: requests are
 * timed in milliseconds. Null when `text` is none: a date without a time, a time without an offset, 30 February, a year that
 * Postgres cannot read.
 */
export function parseTimestamp(text: string): number | null {
  const match = RFC_3339.exec(text);
  if (match === null) return null;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  // A leap second becomes the first second of the next minute, as in Postgres.
  if (hour > 23 || minute > 59 || second > 60 || part(9) > 23 || part(10) > 59) return null;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, milliseconds);
  const offsetMs = (match[8] === '-' ? -1 : 1) * (part(9) * 60 + part(10)) * 60_000;
  const at = date.getTime() - offsetMs;
  return at >= EARLIEST_MS && at <= LATEST_MS ? at : null;
}

/** Converts a timestamp or a date to milliseconds since the epoch; a date means its first millisecond in UTC. Null: neither. */
export function parseMoment(text: string): number | null {
  return parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text);
}
