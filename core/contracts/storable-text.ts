/**
 * Text as Postgres can hold it: U+0000 and lone surrogates, which its text type refuses, become U+FFFD. Applied both
 * to what is stored and to what a filter compares with, so that equal stays equal.
 */
export function storableText(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed();
  return formed.includes('\0') ? formed.replaceAll('\0', '\ufffd') : formed;
}

/** Longer than any real name or id, and within what an index of Postgres holds (2,704 bytes with the rest of its row). */
const LONGEST_INDEXED_TEXT = 500;

/** Text for a column that has an index: as Postgres can hold it, and its first 500 characters at most. */
export function indexedText(text: string): string {
  return storableText(text.length > LONGEST_INDEXED_TEXT ? text.slice(0, LONGEST_INDEXED_TEXT) : text);
}

/**
 * A property name for comparing: names are equal ignoring case, as HTTP has it for header names. Stored names and
 * those of filters are folded by this one function, never by Postgres, so its locale does not matter.
 */
export function foldName(name: string): string {
  return storableText(name).toLowerCase();
}
