/**
 * Reads one HTTP/1.1 response from the bytes of a connection, in pieces of any size (RFC 9112, sections 4 to 6 and 9.3).
 * Interim responses (1xx) are skipped, up to a bound.
 */
import { ChunkedReader, lengthOf, NotHttp, optionsOf, parseHeaderLines } from '../http-message/mod.ts';

export type ReaderCallbacks = {
  onHead(head: ResponseHead): void;
  /** Never empty. */
  onBytes(bytes: Buffer): void;
};

const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** Bound on the heads of a response and its interim responses. Providers send some 2 KB, with cookies and tracing up to 8. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Providers send one at most; a proxy between may send 102 (Processing) every few seconds while a model thinks. */
const MAX_INTERIM_RESPONSES = 100;
const SWITCHING_PROTOCOLS = 101;

export class ResponseReader {
  readonly #callbacks: ReaderCallbacks;
  /** The beginning of a head whose end has not arrived. */
  #pending: Buffer | null = null;
  #interimResponses = 0;
  #interimBytes = 0;
  #head: ResponseHead | null = null;
  /** Bytes left of a body whose length is known. */
  #bytesLeft = 0;
  #chunked: ChunkedReader | null = null;
  #isWhole = false;

  constructor(callbacks: ReaderCallbacks) {
    this.#callbacks = callbacks;
  }

  /** The head; null until it has arrived. */
  get head(): ResponseHead | null {
    return this.#head;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * Takes bytes of the response. Returns where reading ended: at the end of `piece`, or of the response within it.
   * @throws NotHttp
   */
  push(piece: Buffer): number {
    if (this.#head !== null) return this.#readBody(this.#head, piece, 0);
    const bytes = this.#pending === null ? piece : Buffer.concat([this.#pending, piece]);
    const before = this.#pending?.length ?? 0;
    const at = this.#readHeads(bytes, Math.max(0, before - END_OF_HEAD.length));
    return (this.#head === null ? at : this.#readBody(this.#head, bytes, at)) - before;
  }

  /** Notes the end of the connection. Returns whether that completed the response. */
  close(): boolean {
    if (this.#head?.framing === 'until close') this.#isWhole = true;
    return this.#isWhole;
  }

  #readHeads(bytes: Buffer, searchFrom: number): number {
    let from = 0;
    let search = searchFrom;
    while (this.#head === null) {
      const end = bytes.indexOf(END_OF_HEAD, search);
      const headBytes = (end < 0 ? bytes.length : end) - from;
      if (this.#interimBytes + headBytes > MAX_HEAD_BYTES)
        throw new NotHttp(`its head is larger than ${MAX_HEAD_BYTES} bytes`);
      if (end < 0) {
        checkBeginning(bytes, from, search);
        this.#pending = from === 0 ? bytes : bytes.subarray(from);
        return bytes.length;
      }
      const head = parseResponseHead(bytes.toString('latin1', from, end));
      from = end + END_OF_HEAD.length;
      search = from;
      if (head.status < 200) this.#passOver(head, headBytes + END_OF_HEAD.length);
      else this.#takeHead(head);
    }
    this.#pending = null;
    return from;
  }

  #passOver({ status }: ResponseHead, bytes: number): void {
    if (status === SWITCHING_PROTOCOLS) throw new NotHttp('it switches to another protocol');
    this.#interimResponses += 1;
    this.#interimBytes += bytes;
    if (this.#interimResponses > MAX_INTERIM_RESPONSES)
      throw new NotHttp(`it has more than ${MAX_INTERIM_RESPONSES} interim responses (1xx)`);
  }

  #takeHead(head: ResponseHead): void {
    this.#head = head;
    if (head.framing === 'chunked')
      this.#chunked = new ChunkedReader((bytes) => this.#callbacks.onBytes(bytes));
    else if (head.framing !== 'until close') this.#bytesLeft = head.framing;
    this.#isWhole = head.framing === 0;
    this.#callbacks.onHead(head);
  }

  #readBody({ framing }: ResponseHead, bytes: Buffer, from: number): number {
    if (this.#chunked !== null) {
      const at = this.#chunked.push(bytes, from);
      this.#isWhole = this.#chunked.isWhole;
      return at;
    }
    const to = framing === 'until close' ? bytes.length : Math.min(bytes.length, from + this.#bytesLeft);
    if (framing !== 'until close') {
      this.#bytesLeft -= to - from;
      this.#isWhole = this.#bytesLeft === 0;
    }
    if (to > from)
      this.#callbacks.onBytes(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
    return to;
  }
}

/** The end of a body: after its length in bytes, with an empty chunk, or with the connection. */
export type Framing = number | 'chunked' | 'until close';

/**
 * Headers by lower-case name. Each value is one string, also if the name was sent several times: `collectHeaders` merges
 * them.
 */
export type ResponseHeaders = Readonly<Record<string, string>>;

export type ResponseHead = {
  status: number;
  /** Headers without those that `Connection` names, which concern this connection alone. */
  headers: ResponseHeaders;
  framing: Framing;
  /** True when the connection may be used again. */
  isKept: boolean;
  /** Time that the provider keeps the connection idle, in milliseconds; null: it did not say. */
  keptForMs: number | null;
};

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
/** The beginning of every response: anything else is another protocol. */
const BEGINNING = 'HTTP/1.';
/** The largest status of HTTP (RFC 9110, section 15). */
const LARGEST_STATUS = 599;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const NO_STATUS_LINE = 'the status line is not one of HTTP/1.1';
const TIMEOUT_OPTION = /(?:^|[,;\s])timeout=(\d{1,6})/i;

/**
 * Checks an incomplete head, so that bytes that cannot become one are refused at once: another protocol, such as HTTP/2, or
 * lines that end without a carriage return.
 * @param from where the head begins
 * @param checkedTo where the previous check ended
 * @throws NotHttp
 */
function checkBeginning(bytes: Buffer, from: number, checkedTo: number): void {
  const firstFeed = bytes.indexOf(LINE_FEED, from);
  if (firstFeed < 0) {
    const begun = bytes.toString('latin1', from, from + BEGINNING.length);
    if (!BEGINNING.startsWith(begun)) throw new NotHttp(NO_STATUS_LINE);
    return;
  }
  const lineEnd = bytes[firstFeed - 1] === CARRIAGE_RETURN ? firstFeed - 1 : firstFeed;
  if (firstFeed >= checkedTo && !STATUS_LINE.test(bytes.toString('latin1', from, lineEnd)))
    throw new NotHttp(NO_STATUS_LINE);
  for (let feed = bytes.indexOf(LINE_FEED, checkedTo); feed >= 0; feed = bytes.indexOf(LINE_FEED, feed + 1))
    if (bytes[feed - 1] !== CARRIAGE_RETURN) throw new NotHttp('a line does not end in CR LF');
}

/**
 * Parses a head.
 * @param text without the empty line at its end, a character for each byte
 * @throws NotHttp
 */
function parseResponseHead(text: string): ResponseHead {
  const lines = text.split('\r\n');
  const statusLine = STATUS_LINE.exec(lines[0]!);
  if (statusLine === null) throw new NotHttp(NO_STATUS_LINE);
  const status = Number(statusLine[2]);
  if (status > LARGEST_STATUS) throw new NotHttp(`its status ${status} is not one of HTTP`);
  const headers = collectHeaders(parseHeaderLines(lines));
  const connection = optionsOf(headers.connection);
  const framing = framingOf(status, headers);
  const { 'transfer-encoding': coding, 'content-length': length } = headers;
  // Proxies may disagree on a length beside chunks, and on chunks in HTTP/1.0: the connection is not used again (RFC 9112,
  // sections 6.1 and 6.3). Nor is one whose provider announces a body where there can be none: should it come, the next call,
  // of any organization, would take it for its response.
  const isAmbiguous = isWithoutBody(status)
    ? coding !== undefined || (length !== undefined && length !== '0')
    : coding !== undefined && (length !== undefined || statusLine[1] === '0');
  const isKept =
    framing !== 'until close' &&
    !isAmbiguous &&
    !connection.includes('close') &&
    (statusLine[1] === '1' || connection.includes('keep-alive'));
  const keptForMs = keptFor(headers['keep-alive']);
  for (const name of connection) delete headers[name];
  return { status, headers, framing, isKept, keptForMs };
}

/** Returns whether a response of this status ends with its head, whatever that says (RFC 9112, section 6.3). */
function isWithoutBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}

function framingOf(status: number, headers: ResponseHeaders): Framing {
  if (isWithoutBody(status)) return 0;
  const codings = optionsOf(headers['transfer-encoding']);
  if (codings.length > 0) {
    if (codings.length === 1 && codings[0] === 'chunked') return 'chunked';
    throw new NotHttp('its transfer-encoding is not chunked alone');
  }
  const length = headers['content-length'];
  return length === undefined ? 'until close' : lengthOf(length);
}

function keptFor(value: string | undefined): number | null {
  const seconds = value === undefined ? undefined : TIMEOUT_OPTION.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}

/**
 * The header that describes the body: of two lines, one reader would use the first and another the last. Contradicting lines
 * are refused. The two headers that frame the body are joined as lists, and `framingOf` refuses anything but one length or
 * `chunked` alone.
 */
const DESCRIBES_BODY = 'content-type';
const FRAMES_BODY = new Set(['content-length', 'transfer-encoding']);

/**
 * Headers with one value by definition, or that the gateway reads so. Proxies are known to add a second line of some (`date`,
 * `server`); the provider's own comes first, and the first counts (for `age`, RFC 9111, section 5.1 says so). Joined, none of
 * them could be parsed.
 */
const FIRST_COUNTS = new Set([
  'age',
  'content-location',
  'content-range',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server',
  'x-ms-retry-after-ms',
  'x-request-id',
  'x-should-retry',
]);

/** The one list that commas cannot join; dropped, because cookies belong to the provider's host. */
const COOKIE = 'set-cookie';

/**
 * Collects header lines. Repeated headers with one value by definition count once; the values of others are joined by commas,
 * as RFC 9110 specifies for lists. `content-encoding` is such a list: `gzip` twice means encoded twice.
 * @param pairs names and values in turn
 * @throws NotHttp for lines that contradict each other about the body
 */
function collectHeaders(pairs: readonly string[]): Record<string, string> {
  // No prototype: a header may be named like a member of Object's.
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < pairs.length; at += 2) {
    const name = pairs[at]!.toLowerCase();
    const value = pairs[at + 1]!;
    const before = headers[name];
    if (before !== undefined) headers[name] = merged(name, before, value);
    else if (name !== COOKIE) headers[name] = value;
  }
  return headers;
}

function merged(name: string, before: string, value: string): string {
  if (name === DESCRIBES_BODY) {
    if (before.toLowerCase() === value.toLowerCase()) return before;
    throw new NotHttp(`its ${name} headers contradict each other`);
  }
  if (FIRST_COUNTS.has(name)) return before;
  // An empty length contradicts another one; in other lists an empty value means nothing.
  if (FRAMES_BODY.has(name)) return `${before}, ${value}`;
  if (value === '') return before;
  return before === '' ? value : `${before}, ${value}`;
}
