/** Moments in fields of the type `datetime-local`: in the time zone of the browser, to the minute. Pure. */

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

/** @example toLocalField(Date.UTC(2026, 10, 1)) // '2026-11-01T00:00', in UTC */
export function toLocalField(ms: number): string {
  const at = new Date(ms);
  const date = `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${date}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** Returns the moment of a field; null: it is empty. */
export function fromLocalField(text: string): number | null {
  const ms = new Date(text).getTime();
  return text === '' || Number.isNaN(ms) ? null : ms;
}

/** Returns what is wrong with two fields; null: nothing is. */
export function faultOf(from: string, to: string): string | null {
  const [begin, end] = [fromLocalField(from), fromLocalField(to)];
  if (begin === null || end === null) return 'Both moments are needed';
  return begin < end ? null : 'The range must end after its beginning';
}
