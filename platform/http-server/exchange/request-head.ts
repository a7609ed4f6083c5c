/** The head of a request (RFC 9112, sections 3, 6 and 9.3). */

import { isToken, lengthOf, NotHttp, optionsOf, parseHeaderLines } from '../../http-message/mod.ts';

export type RequestHead = {
  method: string;
  /** Path and query, unchanged. */
  target: string;
  /** Names and values in turn, unchanged. */
  rawHeaders: string[];
  /** The length of the body in bytes, which may be 0, or `chunked`: an empty chunk ends it. */
  framing: number | 'chunked';
  /** True when the request is HTTP/1.1, so that the response may be chunked. */
  isCurrent: boolean;
  /** True when the connection may carry another request. */
  isKept: boolean;
  /** True when the client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
};

const REQUEST_LINE = /^(\S+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/;
/** `uri-host [ ":" port ]` (RFC 9110, section 7.2), a little wider: the content of brackets is not checked. */
const HOST = /^(?:\[[0-9A-Za-z:.%~_-]+\]|[-\w.~!$&'()*+,;=%]*)(?::\d*)?$/;
/** The beginning of an absolute target, up to its path: an address of http has a host (RFC 9110, section 4.2.1). */
const ORIGIN =
  /^https?:\/\/(?:[-\w.~!$&'()*+,;=%:]*@)?(?:\[[0-9A-Za-z:.%~_-]+\]|[-\w.~!$&'()*+,;=%]+)(?::\d*)?(?=[/?#]|$)/i;

/**
 * Parses the head of a request.
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
    // Comparing lengths first is fast: few header names have one of these.
    switch (name.length) {
      case 4:
        if (isName(name, 'host')) {
          hosts += 1;
          // RFC 9112, section 3.2: a server must refuse an invalid Host.
          if (!HOST.test(value)) throw new NotHttp('its Host header is not a host and port');
        }
        break;
      case 6:
        if (isName(name, 'expect')) expectation = value;
        break;
      case 10:
        if (isName(name, 'connection')) connection = appendValue(connection, value);
        break;
      case 14:
        if (isName(name, 'content-length')) length = appendValue(length, value);
        break;
      case 17:
        if (isName(name, 'transfer-encoding')) coding = appendValue(coding, value);
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

function isName(name: string, known: string): boolean {
  return name === known || name.toLowerCase() === known;
}

function appendValue(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`;
}

/**
 * Returns path and query of a target. Clients send absolute URLs to proxies, and may send them to origins (section 3.2.2).
 */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const origin = ORIGIN.exec(target);
  if (origin === null) throw new NotHttp('its target is neither a path nor an http URL');
  const path = target.slice(origin[0].length);
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Returns how the body ends. Refuses two framings in one request: proxies that read different ones would see different
 * requests, which is request smuggling (section 11.2).
 */
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
