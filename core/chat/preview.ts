/** Previews: the beginnings of question and answer, which lists show instead of bodies. */
import { storableText } from '../contracts/storable-text.ts';
import { inputText, outputText, plainText, toolCallName } from './body-texts.ts';

/** Characters (code points) of a preview at most. */
export const PREVIEW_LENGTH = 200;

/**
 * UTF-16 code units of a text that are looked at, so that a text of megabytes costs no more than a short one. A text that
 * begins with a lot of white space within it has a shorter preview.
 */
const LOOKED_AT = 2_000;
/** So many hold a preview, whatever its characters. */
const ENOUGH_UNITS = 2 * PREVIEW_LENGTH;

/** Returns the preview of a request's body: of the last user text. Null: it has none. */
export function previewOfQuestion(body: unknown): string | null {
  return previewOf(plainText(body) ?? inputText(body));
}

/** Returns the preview of a response's body: of the assistant's text, else the names of the tools that it calls. Null: neither. */
export function previewOfAnswer(body: unknown): string | null {
  return previewOf(plainText(body) ?? outputText(body, toolCallName));
}

/** By character codes and only as far as needed: a regular expression over the text took ten times as long at ingest. */
function previewOf(text: string | null): string | null {
  if (text === null) return null;
  const preview = startOf(foldSpaces(text.trimStart()));
  return preview === '' ? null : storableText(preview);
}

/** Returns the words of a text's beginning with one space between them: enough of them for a preview. */
function foldSpaces(text: string): string {
  const end = lookedAt(text);
  let folded = '';
  let wordAt = 0;
  for (let at = 0; at <= end; at += 1) {
    if (at < end && !isSpace(text.charCodeAt(at))) continue;
    if (at > wordAt) folded += folded === '' ? text.slice(wordAt, at) : ` ${text.slice(wordAt, at)}`;
    if (folded.length >= ENOUGH_UNITS) break;
    wordAt = at + 1;
  }
  return folded;
}

/** Returns the end of what is looked at; it halves no surrogate pair. */
function lookedAt(text: string): number {
  if (text.length <= LOOKED_AT) return text.length;
  return isHighSurrogate(text.charCodeAt(LOOKED_AT - 1)) ? LOOKED_AT - 1 : LOOKED_AT;
}

/** Returns the first characters of a text. */
function startOf(text: string): string {
  if (text.length <= PREVIEW_LENGTH) return text;
  let units = 0;
  for (let count = 0; count < PREVIEW_LENGTH && units < text.length; count += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  // The last one may be the space before a word that is cut off.
  return text.slice(0, units).trimEnd();
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** White space as `trim` has it. */
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return code === 0xa0 || (code >= 0x1680 && WIDE_SPACES.has(code));
}

const WIDE_SPACES: ReadonlySet<number> = new Set([
  0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028,
  0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
]);
