/** Lists and moments as the texts of form fields. Pure. */

/**
 * Reads a list with an item a line, or between commas; null: it is empty.
 * @example readList('gpt-4o*\nanthropic/*') // ['gpt-4o*', 'anthropic/*']
 */
export function readList(text: string): string[] | null {
  const items = text
    .split(/[\n,]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return items.length === 0 ? null : items;
}

/** Returns a list as a field has it, an item a line. */
export function listText(items: readonly string[] | null): string {
  return (items ?? []).join('\n');
}

const MINUTES_MS = 60_000;

/** Returns a moment as a field of the type datetime-local has it, in the browser's time zone. */
export function momentText(at: string | null): string {
  if (at === null) return '';
  const moment = new Date(at);
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * MINUTES_MS);
  return local.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

/** Reads such a field; null: it is empty. */
export function readMoment(text: string): string | null {
  return text === '' ? null : new Date(text).toISOString();
}
