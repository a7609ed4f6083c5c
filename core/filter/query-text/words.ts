/** Words of the text: runs of plain and quoted parts without a space between them. */
import { QueryTextError } from './fault.ts';

export type Part = { readonly text: string; readonly isQuoted: boolean };
export type Word = { readonly parts: readonly Part[]; readonly offset: number; readonly length: number };

const SPACE = /\s/;
const FIRST_BEYOND_ASCII = 0x80;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const FOUR_HEX_DIGITS = /^[0-9A-Fa-f]{4}$/;

export function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < FIRST_BEYOND_ASCII) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return SPACE.test(text.charAt(at));
}

/** Returns whether a word ends before this place: at a space, a parenthesis, the end. */
export function isBoundary(text: string, at: number): boolean {
  return at >= text.length || text[at] === '(' || text[at] === ')' || isSpace(text, at);
}

/**
 * Reads the word at a place; it may be empty.
 * @param stopsAtColon whether a colon outside of quotation marks ends it, too
 * @throws QueryTextError for a quotation mark that is not closed, and an escape that there is not
 */
export function readWord(text: string, offset: number, stopsAtColon: boolean): Word {
  const parts: Part[] = [];
  let at = offset;
  while (!isBoundary(text, at)) {
    if (text[at] === ':' && stopsAtColon) break;
    if (text[at] === '"') {
      const end = closingQuote(text, at);
      parts.push({ text: unescaped(text, at + 1, end), isQuoted: true });
      at = end + 1;
      continue;
    }
    const start = at;
    while (!isBoundary(text, at) && text[at] !== '"' && !(text[at] === ':' && stopsAtColon)) at += 1;
    parts.push({ text: text.slice(start, at), isQuoted: false });
  }
  return { parts, offset, length: at - offset };
}

function closingQuote(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  const span = { offset: from, length: text.length - from };
  throw new QueryTextError(text, span, 'the quotation mark is not closed: write \\" for one in a text');
}

/** Returns the text between two quotation marks, which has the escapes of JSON. */
function unescaped(text: string, from: number, to: number): string {
  const raw = text.slice(from, to);
  let result = '';
  let start = 0;
  for (let at = raw.indexOf('\\'); at !== -1; at = raw.indexOf('\\', start)) {
    const letter = raw[at + 1]!;
    const hex = raw.slice(at + 2, at + 6);
    const isCode = letter === 'u' && FOUR_HEX_DIGITS.test(hex);
    const character = isCode ? String.fromCharCode(Number.parseInt(hex, 16)) : ESCAPES[letter];
    if (character === undefined) {
      const allowed = 'use \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hexadecimal digits';
      throw new QueryTextError(text, { offset: from + at, length: 2 }, `is not an escape: ${allowed}`);
    }
    result += raw.slice(start, at) + character;
    start = at + (isCode ? 6 : 2);
  }
  return result + raw.slice(start);
}

/** Returns the text of a word. */
export function textOf({ parts }: Pick<Word, 'parts'>): string {
  return parts.map((part) => part.text).join('');
}

/** Returns the text of a word that has no quotation mark; null for any other. */
export function plainTextOf({ parts }: Pick<Word, 'parts'>): string | null {
  const [part] = parts;
  return parts.length === 1 && !part!.isQuoted ? part!.text : null;
}
