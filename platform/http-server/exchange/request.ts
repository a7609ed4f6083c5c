/** A request as its handlers see it: no web `Request`, but what Elysia and the routes use of one. */
import type { IncomingBody } from './incoming-body.ts';
import type { RequestHead } from './request-head.ts';

/** Who made a request, and waits for its answer. */
export type Client = {
  /** It is gone, and the answer with it. */
  readonly hasLeft: boolean;
  /** Something of the answer was sent. */
  readonly isBeingAnswered: boolean;
  /** Calls `hear` when it leaves before its answer is through. Returns what forgets that. */
  onLeave(hear: () => void): () => void;
};

/** Routes look at the path alone: a `Host` header has no part in it. */
const ORIGIN = 'http://localhost';

export class ServerRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly incoming: IncomingBody;
  readonly client: Client;
  #headers: Headers | null = null;

  constructor({ method, target, rawHeaders }: RequestHead, incoming: IncomingBody, client: Client) {
    this.method = method;
    this.url = ORIGIN + target;
    this.rawHeaders = rawHeaders;
    this.incoming = incoming;
    this.client = client;
  }

  get headers(): Headers {
    if (this.#headers === null) {
      this.#headers = new Headers();
      for (let at = 0; at < this.rawHeaders.length; at += 2)
        this.#headers.append(this.rawHeaders[at]!, this.rawHeaders[at + 1]!);
    }
    return this.#headers;
  }
}

function ours(request: Request): ServerRequest {
  const known: unknown = request;
  if (known instanceof ServerRequest) return known;
  throw new Error('The request did not come through platform/http-server');
}

/** The names and values of a request's headers in turn, as they came. */
export function rawHeadersOf(request: Request): readonly string[] {
  return ours(request).rawHeaders;
}

/** Who waits for the answer to a request. */
export function clientOf(request: Request): Client {
  return ours(request).client;
}

/**
 * Reads a request body whole, as bytes.
 * @throws AssayError body_too_large as soon as more than `maxBytes` are announced or have come;
 *   client_closed_request when the client leaves in the middle
 */
export function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  return ours(request).incoming.read(maxBytes);
}
