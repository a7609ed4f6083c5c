/** The head of an HTTP/1.1 response: status, headers, and how its body ends (RFC 9112, sections 4 to 6 and 9.3). */
import type { IncomingHttpHeaders } from 'node:http';
import { lengthOf, NotHttp, optionsOf, parseHeaderLines } from '#core/http/mod.ts';

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
const TIMEOUT_OPTION = /(?:^|[,;\s])timeout=(\d{1,6})/i;

/**
 * Reads a head.
 * @param text without the empty line at its end, a character for each byte
 * @throws NotHttp
 */
export function parseResponseHead(text: string): ResponseHead {
  const lines = text.split('\r\n');
  const statusLine = STATUS_LINE.exec(lines[0]!);
  if (statusLine === null) throw new NotHttp('the status line is not one of HTTP/1.1');
  const headers = collect(parseHeaderLines(lines));
  const status = Number(statusLine[2]);
  const connection = optionsOf(joined(headers.connection));
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

function collect(pairs: readonly string[]): IncomingHttpHeaders {
  // Without a prototype, as a name may be that of a member of Object's.
  const headers: IncomingHttpHeaders = Object.create(null);
  for (let at = 0; at < pairs.length; at += 2) {
    const name = pairs[at]!.toLowerCase();
    const value = pairs[at + 1]!;
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}

function joined(value: string | string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(',') : value;
}

function framingOf(status: number, headers: IncomingHttpHeaders): Framing {
  if (status < 200 || status === 204 || status === 304) return 0;
  const codings = optionsOf(joined(headers['transfer-encoding']));
  if (codings.length > 0) {
    if (codings.length === 1 && codings[0] === 'chunked') return 'chunked';
    throw new NotHttp('its transfer-encoding is not chunked alone');
  }
  const length = joined(headers['content-length']);
  return length === undefined ? 'until close' : lengthOf(length);
}

function keptFor(value: string | string[] | undefined): number | null {
  const seconds = typeof value === 'string' ? TIMEOUT_OPTION.exec(value)?.[1] : undefined;
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
