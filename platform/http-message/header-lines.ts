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
    const name = checkHeaderLine(line, 'header');
    pairs.push(name, withoutBlanks(line, name.length + 1));
  }
  return pairs;
}

/**
 * Checks a line of a head or behind the last chunk, and returns its name.
 * @throws NotHttp
 */
export function checkHeaderLine(line: string, kind: 'header' | 'trailer'): string {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  if (colon < 1 || !TOKEN.test(name)) throw new NotHttp(`a ${kind} has no valid name`);
  if (!isHeaderText(line)) throw new NotHttp(`the ${kind} ${name} has a control character`);
  return name;
}

/** Strips spaces and tabs alone (`OWS`, RFC 9110, section 5.6.3): `trim` would take a no-break space away too. */
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

/** The members of a list, in lower case. Empty ones are passed over (RFC 9110, section 5.6.1.2). */
export function optionsOf(value: string | undefined): string[] {
  if (value === undefined) return [];
  return value.includes(',')
    ? value.split(',').flatMap((option) => withoutBlanks(option, 0).toLowerCase() || [])
    : [value.toLowerCase()];
}

/**
 * The length that `content-length` tells, which may say the same several times (RFC 9110, section 8.6). It is no list
 * otherwise: an empty member is not passed over.
 * @throws NotHttp
 */
export function lengthOf(value: string): number {
  const [first = '', ...others] = value.includes(',')
    ? value.split(',').map((member) => withoutBlanks(member, 0))
    : [value];
  if (!LENGTH.test(first) || others.some((other) => other !== first))
    throw new NotHttp('its content-length is not one number');
  return Number(first);
}
