/** Responses as handlers give them and as the server writes them. */
import { STATUS_CODES } from 'node:http';
import { isHeaderText, isToken } from '../../http-message/mod.ts';

/** A body that is written as it comes into being. */
export type BodySource = { pipe(body: BodyWriter): void };

/** Where such a body goes. */
export type BodyWriter = {
  /** False: the client is slow, and `onDrain` will tell when there is room again. The bytes are taken all the same. */
  write(bytes: Uint8Array): boolean;
  /** With the last bytes, which then share a write with the end. */
  end(last?: Uint8Array): void;
  /** Sends the headers, should nothing have been written yet. */
  flushHeaders(): void;
  onDrain(listener: () => void): void;
  /** The connection has ended, or the body has. */
  onClose(listener: () => void): void;
};

export type ReplyBody = string | Uint8Array | ReadableStream<Uint8Array> | BodySource | null;

export type ReplyInit = { status?: number; headers?: [string, string][] | Record<string, string> };

/**
 * A response as handlers give it: a status, header pairs and a body, which are all that the server writes. It is a web
 * `Response` by its members, at a small part of the cost of making one; the members that only a web `Response` has come
 * from one that is made when somebody asks for them.
 */
export class Reply implements Response {
  readonly status: number;
  readonly source: ReplyBody;
  readonly #pairs: Iterable<[string, string]>;
  #headers: Headers | null = null;
  #web: Response | null = null;

  constructor(body: ReplyBody = null, { status = 200, headers = [] }: ReplyInit = {}) {
    this.status = status;
    this.source = body;
    this.#pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  }

  static {
    // Elysia asks `instanceof Response` to tell a response from a value that it has to make one of.
    Object.setPrototypeOf(Reply.prototype, Response.prototype);
  }

  /** As they are now. */
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

/** What of an answer is sent. */
export type Sendable = { status: number; pairs: Iterable<[string, string]>; body: ReplyBody };

export function sendableOf(response: Response): Sendable {
  if (response instanceof Reply)
    return { status: response.status, pairs: response.pairs, body: response.source };
  return { status: response.status, pairs: response.headers, body: response.body };
}

/** The head of an answer as text, a character for each byte (RFC 9112, section 4). Pure. */

export type ResponseHead = {
  status: number;
  pairs: Iterable<[string, string]>;
  /** Bytes of its body; `chunked`; null: there is none, or its end is the end of the connection. */
  framing: number | 'chunked' | null;
  /** For how long the connection is kept, in seconds; null: it is not. */
  keptForS: number | null;
  /** The moment, as `Date` has it. */
  date: string;
};

/** Written here and nowhere else: what belongs to one connection, and the line that every answer has. */
const WRITTEN_HERE = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'x-content-type-options',
]);

/**
 * Every answer has it, relayed ones too: they come from this origin, and what a provider calls JSON is the text of a model,
 * which no browser may take for a page or a script. Clients of an API do not look at it.
 */
const NO_SNIFFING = 'x-content-type-options: nosniff\r\n';

/**
 * Writes a head, with the empty line at its end.
 * @throws Error for what may not be in a header
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
