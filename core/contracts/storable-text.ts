/**
 * Returns text as Postgres can hold it: U+0000 and lone surrogates, which its text type refuses, become U+FFFD. Applied
 * both to stored texts and to operands of filters, so that equal texts stay equal.
 */
export function storableText(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed();
  return formed.includes('\0') ? formed.replaceAll('\0', '\ufffd') : formed;
}

/** Characters: longer than any real name or id, and within Postgres's limit for an index row (2,704 bytes). */
const LONGEST_INDEXED_TEXT = 500;

/** Returns text for an indexed column: as Postgres can hold it, cut to 500 characters. */
export function indexedText(text: string): string {
  return storableText(text.length > LONGEST_INDEXED_TEXT ? text.slice(0, LONGEST_INDEXED_TEXT) : text);
}

/**
 * Folds a property name for comparison: names ignore case, as header names do in HTTP. This function folds both stored
 * names and those of filters, Postgres folds none, so the database's locale does not matter.
 */
export function foldName(name: string): string {
  return storableText(name).toLowerCase();
}
