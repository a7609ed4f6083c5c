/** Header lines, of requests and responses alike (RFC 9112, section 5). */
import { isHeaderText } from './header-text.ts';
import { NotHttp } from './not-http.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LENGTH = /^\d{1,15}$/;
const TAB = 0x09;
const SPACE = 0x20;

/** Whether a text may be the name of a header, or a method (RFC 9110, section 5.6.2). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * Names and values in turn, as they came.
 * @param lines of a head, the first of which is none of a header
 * @throws NotHttp
 */
export function parseHeaderLines(lines: readonly string[]): string[] {
  const pairs: string[] = [];
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon < 1 || !TOKEN.test(name)) throw new NotHttp('a header has no valid name');
    if (!isHeaderText(line)) throw new NotHttp(`the header ${name} has a control character`);
    pairs.push(name, withoutBlanks(line, colon + 1));
  }
  return pairs;
}

/** `trim` would take more than spaces and tabs away. */
function withoutBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** The members of a list, in lower case. */
export function optionsOf(value: string | undefined): string[] {
  if (value === undefined) return [];
  return value.includes(',')
    ? value.split(',').flatMap((option) => option.trim().toLowerCase() || [])
    : [value.toLowerCase()];
}

/**
 * The length that `content-length` tells, which may say the same several times.
 * @throws NotHttp
 */
export function lengthOf(value: string): number {
  const lengths = new Set(optionsOf(value));
  const [only = ''] = lengths;
  if (lengths.size !== 1 || !LENGTH.test(only)) throw new NotHttp('its content-length is not one number');
  return Number(only);
}
