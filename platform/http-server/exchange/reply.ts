/** Answers, as cheap as they can be: what is written to the socket, and no web `Response` unless somebody asks for one. */

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
  onDrain(hear: () => void): void;
  /** The connection has ended, or the body has. */
  onClose(hear: () => void): void;
};

export type ReplyBody = string | Uint8Array | ReadableStream<Uint8Array> | BodySource | null;

export type ReplyInit = { status?: number; headers?: [string, string][] | Record<string, string> };

class CheapResponse {
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

  /** As they are now. */
  get pairs(): Iterable<[string, string]> {
    return this.#headers ?? this.#pairs;
  }

  get headers(): Headers {
    this.#headers ??= new Headers([...this.#pairs]);
    return this.#headers;
  }

  static {
    // What else a web response has, it has as the one that is made of it.
    for (const name of Object.getOwnPropertyNames(Response.prototype)) {
      if (name === 'constructor' || name in CheapResponse.prototype) continue;
      Object.defineProperty(CheapResponse.prototype, name, {
        get(this: CheapResponse) {
          const web = this.#asWeb();
          const value: unknown = web[name as keyof Response];
          return typeof value === 'function' ? value.bind(web) : value;
        },
      });
    }
  }

  #asWeb(): Response {
    const { source, status, headers } = this;
    this.#web ??= new Response(source as string | null, { status, headers });
    return this.#web;
  }
}
// What handles web responses, as Elysia does, takes it for one.
Object.setPrototypeOf(CheapResponse.prototype, Response.prototype);

/** Answers with this instead of `Response`. */
export const Reply = CheapResponse as unknown as new (body?: ReplyBody, init?: ReplyInit) => Response;

/** What of an answer is sent. */
export type Sendable = { status: number; pairs: Iterable<[string, string]>; body: ReplyBody };

export function sendableOf(response: Response): Sendable {
  const known: unknown = response;
  if (known instanceof CheapResponse) return { status: known.status, pairs: known.pairs, body: known.source };
  return { status: response.status, pairs: response.headers, body: response.body };
}
