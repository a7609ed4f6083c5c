/** Responses as handlers return them, and their heads as the server writes them (RFC 9112, section 4). */
import { STATUS_CODES } from 'node:http';
import { isHeaderText, isToken } from '../../http-message/mod.ts';

/** A body that is written while it is produced. */
export type BodySource = { pipe(body: BodyWriter): void };

/** Takes the bytes of a `BodySource`. */
export type BodyWriter = {
  /** Takes `bytes` in any case. Returns false when the client is slow; `onDrain` is called when there is room again. */
  write(bytes: Uint8Array): boolean;
  /** Ends the body. `last` shares a write with the end. */
  end(last?: Uint8Array): void;
  /** Sends the headers unless they were sent. */
  flushHeaders(): void;
  onDrain(listener: () => void): void;
  /** Registers a listener for the end of the body or of the connection. */
  onClose(listener: () => void): void;
};

export type ReplyBody = string | Uint8Array | ReadableStream<Uint8Array> | BodySource | null;

export type ReplyInit = { status?: number; headers?: [string, string][] | Record<string, string> };

/**
 * A response as handlers return it: status, header pairs and body, which are all that the server writes. It has the members
 * of a web `Response` at a small part of the cost: those that only a web `Response` has come from one that is made on first
 * use.
 */
export class Reply implements Response {
  readonly status: number;
  readonly source: ReplyBody;
  readonly #pairs: Iterable<[string, string]>;
  #headers: Headers | null = null;
  #web: Response | null = null;

  constructor(body: ReplyBody = null, { status = 200, headers = [] }: ReplyInit = {}) {
    if (!Reply.#isResponse) Reply.#becomeResponse();
    this.status = status;
    this.source = body;
    this.#pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  }

  static #isResponse = false;

  /**
   * Makes replies `instanceof Response`: Elysia wraps other values in a response. With the first of them, because Node loads all of
   * `fetch` for it, which a start need not wait for.
   */
  static #becomeResponse(): void {
    Object.setPrototypeOf(Reply.prototype, Response.prototype);
    Reply.#isResponse = true;
  }

  /** The headers with later changes to `headers`. */
  get pairs(): Iterable<[string, string]> {
    return this.#headers ?? this.#pairs;
  }

  get headers(): Headers {
    this.#headers ??= new Headers([...this.#pairs]);
    return this.#headers;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  get body(): Response['body'] {
    return this.#asWeb().body;
  }
  get bodyUsed(): boolean {
    return this.#asWeb().bodyUsed;
  }
  get redirected(): boolean {
    return this.#asWeb().redirected;
  }
  get statusText(): string {
    return this.#asWeb().statusText;
  }
  get type(): Response['type'] {
    return this.#asWeb().type;
  }
  get url(): string {
    return this.#asWeb().url;
  }
  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asWeb().arrayBuffer();
  }
  blob(): ReturnType<Response['blob']> {
    return this.#asWeb().blob();
  }
  bytes(): ReturnType<Response['bytes']> {
    return this.#asWeb().bytes();
  }
  clone(): Response {
    return this.#asWeb().clone();
  }
  formData(): ReturnType<Response['formData']> {
    return this.#asWeb().formData();
  }
  json(): Promise<unknown> {
    return this.#asWeb().json();
  }
  text(): Promise<string> {
    return this.#asWeb().text();
  }

  #asWeb(): Response {
    const { source, status, headers } = this;
    if (isBodySource(source)) throw new TypeError('A body that is pushed to the socket cannot be read here');
    this.#web ??= new Response(source, { status, headers });
    return this.#web;
  }
}

function isBodySource(body: ReplyBody): body is BodySource {
  return body !== null && typeof body === 'object' && 'pipe' in body;
}

/** The parts of a response that are sent. */
export type Sendable = { status: number; pairs: Iterable<[string, string]>; body: ReplyBody };

export function sendableOf(response: Response): Sendable {
  if (response instanceof Reply)
    return { status: response.status, pairs: response.pairs, body: response.source };
  return { status: response.status, pairs: response.headers, body: response.body };
}

export type ResponseHead = {
  status: number;
  pairs: Iterable<[string, string]>;
  /** Bytes of the body; `chunked`; null: there is no body, or the end of the connection ends it. */
  framing: number | 'chunked' | null;
  /** Seconds that the connection stays open; null: it is closed. */
  keptForS: number | null;
  /** The value of the `Date` header. */
  date: string;
};

/** Headers that the server writes itself; the values of handlers are dropped. */
const WRITTEN_HERE = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'x-content-type-options',
]);

/**
 * Sent with every response, relayed ones too: they come from this origin, and a provider's JSON holds the text of a model,
 * which no browser may take for a page or a script. Clients of an API ignore it.
 */
const NO_SNIFFING = 'x-content-type-options: nosniff\r\n';

/**
 * Formats a response head, one character for each byte, with the empty line at its end.
 * @throws Error for a header name or value that HTTP does not allow
 */
export function formatResponseHead({ status, pairs, framing, keptForS, date }: ResponseHead): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  let hasDate = false;
  for (const [name, value] of pairs) {
    if (!isToken(name) || !isHeaderText(value))
      throw new Error(`The header ${JSON.stringify(name)} is not valid`);
    const lower = name.toLowerCase();
    if (WRITTEN_HERE.has(lower)) continue;
    if (lower === 'date') hasDate = true;
    text += `${name}: ${value}\r\n`;
  }
  text += hasDate ? NO_SNIFFING : `${NO_SNIFFING}date: ${date}\r\n`;
  if (typeof framing === 'number') text += `content-length: ${framing}\r\n`;
  else if (framing === 'chunked') text += 'transfer-encoding: chunked\r\n';
  return keptForS === null
    ? `${text}connection: close\r\n\r\n`
    : `${text}connection: keep-alive\r\nkeep-alive: timeout=${keptForS}\r\n\r\n`;
}
