/** Moments in fields of the type `datetime-local`: in the time zone of the browser, to the minute. Pure. */

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

/** @example toLocalField(Date.UTC(2026, 10, 1)) // '2026-11-01T00:00', in UTC */
export function toLocalField(ms: number): string {
  const at = new Date(ms);
  const date = `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${date}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** Returns the moment of a field; null: it is empty. */
function fromLocalField(text: string): number | null {
  const ms = new Date(text).getTime();
  return text === '' || Number.isNaN(ms) ? null : ms;
}

/**
 * Returns the moment of a field that was filled from one: the same to the millisecond while the text is unchanged. The text has
 * no seconds, and on the day that the clock is set back two moments have the same.
 */
export function momentOf(text: string, original: number): number | null {
  return text === toLocalField(original) ? original : fromLocalField(text);
}

/** Returns what is wrong with two moments; null: nothing is. */
export function faultOf(begin: number | null, end: number | null): string | null {
  if (begin === null || end === null) return 'Both moments are needed';
  return begin < end ? null : 'The range must end after its beginning';
}
