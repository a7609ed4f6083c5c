const LONGEST_SHOWN_VALUE = 80;

/** Quotes a value for an error sentence: as JSON, cut to a readable length. */
export function quoteValue(value: unknown): string {
  let text: string;
  // JSON has no infinity, but JSON.parse reads 1e999 as one.
  if (typeof value === 'number') return String(value);
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    // The value is nested too deep to be written out.
    text = Array.isArray(value) ? '[…]' : '{…}';
  }
  return text.length > LONGEST_SHOWN_VALUE ? `${text.slice(0, LONGEST_SHOWN_VALUE)}…` : text;
}
