/** The head of an HTTP/1.1 response: status, headers, and how its body ends (RFC 9112, sections 4 to 6 and 9.3). */
import type { IncomingHttpHeaders } from 'node:http';
import { isHeaderText } from './header-text.ts';

/** What a provider sent is no HTTP/1.1. The message says which rule it breaks. */
export class NotHttp extends Error {
  constructor(rule: string) {
    super(rule);
    this.name = 'NotHttp';
  }
}

/** How the end of a body is known: by its length in bytes, by an empty chunk, by the end of the connection. */
export type Framing = number | 'chunked' | 'until close';

export type ResponseHead = {
  status: number;
  /** Names in lower case; a list where a name came several times. */
  headers: IncomingHttpHeaders;
  framing: Framing;
  /** Whether the connection may be used again; if so, for how long if the provider said it: milliseconds. */
  isKept: boolean;
  keptForMs: number | null;
};

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TIMEOUT_OPTION = /(?:^|[,;\s])timeout=(\d{1,6})/i;
const LENGTH = /^\d{1,15}$/;

/**
 * Reads a head.
 * @param text without the empty line at its end, a character for each byte
 * @throws NotHttp
 */
export function parseResponseHead(text: string): ResponseHead {
  const lines = text.split('\r\n');
  const statusLine = STATUS_LINE.exec(lines[0]!);
  if (statusLine === null) throw new NotHttp('the status line is not one of HTTP/1.1');
  const headers = parseHeaders(lines);
  const status = Number(statusLine[2]);
  const connection = optionsOf(headers.connection);
  const framing = framingOf(status, headers);
  // A length beside chunks is a sign of two readers that disagree: what comes after is not trusted.
  const isAmbiguous = headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined;
  const isKept =
    framing !== 'until close' &&
    !isAmbiguous &&
    !connection.includes('close') &&
    (statusLine[1] === '1' || connection.includes('keep-alive'));
  return { status, headers, framing, isKept, keptForMs: keptFor(headers['keep-alive']) };
}

function parseHeaders(lines: readonly string[]): IncomingHttpHeaders {
  // Without a prototype, as a name may be that of a member of Object's.
  const headers: IncomingHttpHeaders = Object.create(null);
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 1 || !TOKEN.test(name)) throw new NotHttp('a header has no valid name');
    if (!isHeaderText(line)) throw new NotHttp(`the header ${name} has a control character`);
    const value = withoutBlanks(line, colon + 1);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}

const TAB = 0x09;
const SPACE = 0x20;

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

function framingOf(status: number, headers: IncomingHttpHeaders): Framing {
  if (status < 200 || status === 204 || status === 304) return 0;
  const codings = optionsOf(headers['transfer-encoding']);
  if (codings.length > 0) {
    if (codings.length === 1 && codings[0] === 'chunked') return 'chunked';
    throw new NotHttp('its transfer-encoding is not chunked alone');
  }
  const length = headers['content-length'];
  if (length === undefined) return 'until close';
  const lengths = new Set(
    typeof length === 'string' ? optionsOf(length) : (length as string[]).flatMap(optionsOf),
  );
  const [only = ''] = lengths;
  if (lengths.size !== 1 || !LENGTH.test(only)) throw new NotHttp('its content-length is not one number');
  return Number(only);
}

/** The members of a list, in lower case. */
function optionsOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : value.join(',');
  return text.includes(',')
    ? text.split(',').flatMap((option) => option.trim().toLowerCase() || [])
    : [text.toLowerCase()];
}

function keptFor(value: string | string[] | undefined): number | null {
  const seconds = typeof value === 'string' ? TIMEOUT_OPTION.exec(value)?.[1] : undefined;
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
