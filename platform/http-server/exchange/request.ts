/**
 * A request as handlers see it. Making a web `Request` for each would cost more than reading it from the socket, so this
 * class implements the members itself that handlers and Elysia use on every request. The other members come from a web
 * `Request` that is made on first use.
 */

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { AssayError } from '#core/contracts/errors.ts';
import type { BodyRoom, IncomingBody } from './incoming-body.ts';
import type { ResponseWriter } from './response-writer.ts';

/** Origin of every request's URL: routes depend on the path alone, not on the `Host` header. */
const ORIGIN = 'http://localhost';
/** Largest body that the web methods (`text`, `json` …) read. Handlers pass their own limit to `readBody`. */
const MAX_WEB_BODY_BYTES = 32 * 1024 * 1024;

/** Where a request came from: the other end of its connection. */
export type Peer = {
  /** An IP address; null: the connection is gone, or there was none. */
  readonly address: string | null;
  /** Whether the connection is encrypted. */
  readonly isSecure: boolean;
};

type Incoming = Pick<IncomingBody, 'read' | 'shrinkRoom' | 'growRoom'>;
type Client = { readonly signal: AbortSignal; readonly peer: Peer };

export class ServerRequest implements Request {
  readonly method: string;
  readonly url: string;
  /** Names and values in turn, unchanged. */
  readonly rawHeaders: readonly string[];
  readonly #incoming: Incoming;
  readonly #client: Client;
  #headers: Headers | null = null;
  #web: Request | null = null;
  /** Where its body waits for room. Null: it needs none. */
  #room: BodyRoom | null = null;

  constructor(
    { method, target, rawHeaders }: Pick<InnerRequest, 'method' | 'target' | 'rawHeaders'>,
    incoming: Incoming,
    client: Client,
  ) {
    this.method = method;
    this.url = ORIGIN + target;
    this.rawHeaders = rawHeaders;
    this.#incoming = incoming;
    this.#client = client;
  }

  get headers(): Headers {
    if (this.#headers === null) {
      this.#headers = new Headers();
      for (let at = 0; at < this.rawHeaders.length; at += 2)
        this.#headers.append(this.rawHeaders[at]!, this.rawHeaders[at + 1]!);
    }
    return this.#headers;
  }

  /** Aborts when the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    return this.#client.signal;
  }

  get peer(): Peer {
    return this.#client.peer;
  }

  /**
   * Reads the whole body.
   * @param room where a body that is compressed, or of more than 64 KiB, waits for its room. It has it until the handler and the
   *   response have ended. Default: where `limitBody` says
   * @throws AssayError body_too_large as soon as more than `maxBytes` are announced or have come; bodies_busy when there is no
   *   room for it; client_closed_request when the client leaves in the middle
   */
  readBody(maxBytes: number, room: BodyRoom | null = this.#room): Promise<Buffer> {
    return this.#incoming.read(maxBytes, room);
  }

  /**
   * Takes room at once for so many bytes more, by which its handler makes the body longer.
   * @throws AssayError bodies_busy
   */
  growRoom(bytes: number, room: Omit<BodyRoom, 'isPacked'>): void {
    this.#incoming.growRoom(bytes, room);
  }

  /**
   * Takes room at once for what its response holds in memory until the client has read it, where its body would wait for room. A
   * response counts as half of what its owner may have at most, so that the largest one can be read.
   * @throws AssayError bodies_busy
   */
  holdRoom(bytes: number): void {
    const room = this.#room;
    if (room !== null) this.#incoming.growRoom(Math.min(bytes, room.slots.mostOfOne >> 1), room);
  }

  /** Makes its body, if it is large, wait for room unless its reader names another: that of `owner`, until `ownBody` is called. */
  limitBody(slots: BodyRoom['slots'], owner: string): void {
    this.#room = { slots, owner, isPacked: false };
  }

  /** Says whose its body is, before that is read. */
  ownBody(owner: string): void {
    if (this.#room !== null) this.#room = { ...this.#room, owner };
  }

  /** Keeps room for so many bytes only: those that a compressed body has become. */
  shrinkRoom(bytes: number): void {
    this.#incoming.shrinkRoom(bytes);
  }

  get body(): Request['body'] {
    return this.#asWeb().body;
  }
  get bodyUsed(): boolean {
    return this.#asWeb().bodyUsed;
  }
  get cache(): Request['cache'] {
    return this.#asWeb().cache;
  }
  get credentials(): Request['credentials'] {
    return this.#asWeb().credentials;
  }
  get destination(): Request['destination'] {
    return this.#asWeb().destination;
  }
  get duplex(): Request['duplex'] {
    return this.#asWeb().duplex;
  }
  get integrity(): string {
    return this.#asWeb().integrity;
  }
  get keepalive(): boolean {
    return this.#asWeb().keepalive;
  }
  get mode(): Request['mode'] {
    return this.#asWeb().mode;
  }
  get redirect(): Request['redirect'] {
    return this.#asWeb().redirect;
  }
  get referrer(): string {
    return this.#asWeb().referrer;
  }
  get referrerPolicy(): Request['referrerPolicy'] {
    return this.#asWeb().referrerPolicy;
  }
  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asWeb().arrayBuffer();
  }
  blob(): ReturnType<Request['blob']> {
    return this.#asWeb().blob();
  }
  bytes(): ReturnType<Request['bytes']> {
    return this.#asWeb().bytes();
  }
  clone(): Request {
    return this.#asWeb().clone();
  }
  formData(): ReturnType<Request['formData']> {
    return this.#asWeb().formData();
  }
  json(): Promise<unknown> {
    return this.#asWeb().json();
  }
  text(): Promise<string> {
    return this.#asWeb().text();
  }

  #asWeb(): Request {
    const { url, method, headers, signal } = this;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    this.#web ??= new Request(url, {
      method,
      headers,
      signal,
      ...(hasBody && { body: this.#stream(), duplex: 'half' }),
    });
    return this.#web;
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const bytes = await this.readBody(MAX_WEB_BODY_BYTES);
          if (bytes.length > 0) controller.enqueue(bytes);
          controller.close();
        },
      },
      // Reads nothing before the stream is read: code that only inspects the request must not consume its body.
      { highWaterMark: 0 },
    );
  }
}

const NO_PEER: Peer = { address: null, isSecure: false };

/** A request that a handler makes of the routes of its own process. */
export type InnerRequest = {
  method: string;
  /** Path and query. */
  target: string;
  /** Names and values in turn. */
  rawHeaders: readonly string[];
  /** Null: there is none. */
  body: Buffer | null;
};

/**
 * Makes a request as if a client had sent it, for the `fetch` of an app: routes check its key, its scope and its body as
 * those of any other.
 * @param client whose disconnection aborts it
 */
export function innerRequest(
  { method, target, rawHeaders, body }: InnerRequest,
  client: { readonly signal: AbortSignal },
): Request {
  const incoming = {
    read: () => Promise.resolve(body ?? Buffer.alloc(0)),
    shrinkRoom: () => {},
    growRoom: () => {},
  };
  const { signal } = client;
  return new ServerRequest({ method, target, rawHeaders }, incoming, { signal, peer: NO_PEER });
}

/** Returns the names and values of a request's headers in turn, unchanged. */
export function rawHeadersOf(request: Request): readonly string[] {
  return serverRequestOf(request).rawHeaders;
}

/** Reads the body of a request that came through Elysia, as `ServerRequest.readBody` does. */
export function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  return serverRequestOf(request).readBody(maxBytes);
}

/**
 * Narrows a request that came through Elysia to the `ServerRequest` that the server made.
 * @throws Error for any other request
 */
export function serverRequestOf(request: Request): ServerRequest {
  if (request instanceof ServerRequest) return request;
  throw new Error('The request did not come through platform/http-server');
}

/** One request and its response, from the first byte of the handler to the last of the response. */
export class ServerExchange {
  readonly body: IncomingBody;
  readonly answer: ResponseWriter;
  readonly #socket: Socket;
  #isHandled = false;
  #isDisconnected = false;
  #controller: AbortController | null = null;

  constructor(body: IncomingBody, answer: ResponseWriter, socket: Socket) {
    this.body = body;
    this.answer = answer;
    this.#socket = socket;
  }

  /** Read on use: few requests need it, and it is a system call. */
  get peer(): Peer {
    const { remoteAddress = null } = this.#socket;
    return { address: remoteAddress, isSecure: this.#socket instanceof TLSSocket };
  }

  /** Aborts when the client disconnects before the response is complete. Made on first use. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isDisconnected) this.#controller.abort(clientLeft());
    }
    return this.#controller.signal;
  }

  /** Notes that the handler has ended, which may need the body for longer than the client stays. */
  handled(): void {
    this.#isHandled = true;
    if (this.#isDisconnected) this.body.release();
  }

  leave(): void {
    const isAnswered = this.answer.isOver;
    this.#isDisconnected = true;
    this.body.abort();
    if (this.#isHandled) this.body.release();
    this.answer.abort();
    if (!isAnswered) this.#controller?.abort(clientLeft());
  }
}

function clientLeft(): AssayError {
  return new AssayError('client_closed_request', 'The client left before its response was complete');
}
