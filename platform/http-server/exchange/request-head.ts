/** The head of a request: what is asked for, and how its body ends (RFC 9112, sections 3, 6 and 9.3). Pure. */
import { isToken, lengthOf, NotHttp, optionsOf, parseHeaderLines } from '../../http-message/mod.ts';

export type RequestHead = {
  method: string;
  /** Path and query, as they came. */
  target: string;
  /** Names and values in turn, as they came. */
  rawHeaders: string[];
  /** How the end of its body is known: by its length in bytes, which may be 0, or by an empty chunk. */
  framing: number | 'chunked';
  /** Of HTTP/1.1, where an answer may come in chunks. */
  isCurrent: boolean;
  /** Whether its connection may carry another one. */
  isKept: boolean;
  /** Its body is sent once it is asked for. */
  awaitsContinue: boolean;
};

const REQUEST_LINE = /^(\S+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/;
/** `uri-host [ ":" port ]` (RFC 9110, section 7.2), a little wider: what is within brackets is not read. */
const HOST = /^(?:\[[0-9A-Za-z:.%~_-]+\]|[-\w.~!$&'()*+,;=%]*)(?::\d*)?$/;
/** The beginning of an absolute target, up to its path: an address of http has a host (RFC 9110, section 4.2.1). */
const ORIGIN =
  /^https?:\/\/(?:[-\w.~!$&'()*+,;=%:]*@)?(?:\[[0-9A-Za-z:.%~_-]+\]|[-\w.~!$&'()*+,;=%]+)(?::\d*)?(?=[/?#]|$)/i;

/**
 * Reads a head.
 * @param text without the empty line at its end, a character for each byte
 * @throws NotHttp
 */
export function parseRequestHead(text: string): RequestHead {
  const lines = text.split('\r\n');
  const [, method = '', target = '', version] = REQUEST_LINE.exec(lines[0]!) ?? [];
  if (!isToken(method)) throw new NotHttp('the request line is not one of HTTP/1.1');
  const isCurrent = version === '1';
  const rawHeaders = parseHeaderLines(lines);
  let hosts = 0;
  let length: string | undefined;
  let coding: string | undefined;
  let connection: string | undefined;
  let expectation: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const value = rawHeaders[at + 1]!;
    // Few names have these lengths, so that few are looked at.
    switch (name.length) {
      case 4:
        if (is(name, 'host')) {
          hosts += 1;
          // RFC 9112, section 3.2: a server must refuse a Host that is none.
          if (!HOST.test(value)) throw new NotHttp('its Host header is no host and port');
        }
        break;
      case 6:
        if (is(name, 'expect')) expectation = value;
        break;
      case 10:
        if (is(name, 'connection')) connection = and(connection, value);
        break;
      case 14:
        if (is(name, 'content-length')) length = and(length, value);
        break;
      case 17:
        if (is(name, 'transfer-encoding')) coding = and(coding, value);
    }
  }
  if (hosts > 1 || (isCurrent && hosts === 0)) throw new NotHttp('it must have one Host header');
  const options = optionsOf(connection);
  return {
    method,
    target: pathOf(target),
    rawHeaders,
    framing: framingOf(length, coding, isCurrent),
    isCurrent,
    isKept: isCurrent ? !options.includes('close') : options.includes('keep-alive'),
    awaitsContinue: isCurrent && expectation?.toLowerCase() === '100-continue',
  };
}

function is(name: string, known: string): boolean {
  return name === known || name.toLowerCase() === known;
}

function and(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`;
}

/** Proxies are asked by whole addresses, and origins may be (section 3.2.2). */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const origin = ORIGIN.exec(target);
  if (origin === null) throw new NotHttp('its target is neither a path nor an address of http');
  const path = target.slice(origin[0].length);
  return path.startsWith('/') ? path : `/${path}`;
}

/** Two ways to tell the end are how one request is made to look like two to somebody on the way (section 11.2). */
function framingOf(
  length: string | undefined,
  coding: string | undefined,
  isCurrent: boolean,
): number | 'chunked' {
  if (coding === undefined) return length === undefined ? 0 : lengthOf(length);
  if (length !== undefined) throw new NotHttp('it has a Content-Length beside a Transfer-Encoding');
  if (!isCurrent || coding.toLowerCase() !== 'chunked')
    throw new NotHttp('its Transfer-Encoding is not chunked alone, in HTTP/1.1');
  return 'chunked';
}
