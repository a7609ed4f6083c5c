import { cutToBytes } from '../text/mod.ts';

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

/** Bytes of UTF-8: two such texts in one index row stay below Postgres's limit. */
const LONGEST_SESSION_TEXT_BYTES = 1_024;

/**
 * Returns a session's id or name as it is stored and looked up: as Postgres can hold it, cut to 1,024 bytes. That is
 * longer than what callers may send, except where characters were replaced by longer ones.
 */
export function storableSessionText(text: string): string {
  return cutToBytes(storableText(text), LONGEST_SESSION_TEXT_BYTES);
}

/**
 * Folds a property name for comparison: names ignore case, as header names do in HTTP. This function folds both stored
 * names and those of filters, Postgres folds none, so the database's locale does not matter.
 */
export function foldName(name: string): string {
  return storableText(name).toLowerCase();
}
