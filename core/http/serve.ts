/**
 * The one file that knows how an Elysia app is put on a socket: `app.fetch` under srvx's Node handler on `node:http`,
 * on Node and on Deno alike (Deno.serve has no header timeout). Whole-process CPU for a proxied 1 KB call: 46–50 µs
 * here when the body is read from the Node request and the answer is a `Reply`, the same as bare node:http; 97–104 µs
 * through the web `Request` body.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { FastResponse, toNodeHandler } from 'srvx/node';
import type { AssayError } from '../errors.ts';
import { watchConnections } from './drain.ts';
import { type ListenOptions, listen } from './listen.ts';
import { answerMalformed } from './malformed.ts';

/** Answers with this instead of `Response`: on Node it goes to the socket without building a web response. */
export const Reply = FastResponse;

export type HttpServer = {
  port: number;
  /** `http://host:port`, without a trailing slash. */
  url: string;
  /**
   * Stops: `/readyz` answers 503 at once, each answer closes its connection, calls in flight finish, and after
   * `deadlineMs` what is left is cut. Resolves when every connection is closed.
   */
  close(deadlineMs: number): Promise<void>;
};

export type ServeOptions = ListenOptions & {
  fetch: (request: Request) => Response | Promise<Response>;
  /** The body that tells of an error where what came is no request that `fetch` could answer. Default: its sentence. */
  tell?: (error: AssayError) => string;
  /** How long `close` goes on accepting connections, for load balancers that ask `/readyz` now and then. Default: 0. */
  drainDelayMs?: number;
};

const HEADERS_TIMEOUT_MS = 10_000;
/** For a whole request to arrive: 32 MiB on a slow line, yet no socket is held for ever. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the 60 s of common load balancers, so that they, not we, close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const CONNECTIONS_CHECK_MS = 2_000;
const MAX_HEADER_BYTES = 64 * 1024;

function asksWhetherReady({ url = '' }: IncomingMessage): boolean {
  return url === '/readyz' || url.startsWith('/readyz?');
}

/**
 * Serves an app.
 * @throws Error with one clear sentence when the address cannot be had
 */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
  });
  const handle = toNodeHandler(options.fetch) as (request: IncomingMessage, response: ServerResponse) => void;
  answerMalformed(server, {
    maxHeaderBytes: MAX_HEADER_BYTES,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    tell: options.tell ?? (({ message }) => JSON.stringify({ error: message })),
  });
  const connections = watchConnections(server);
  server.on('request', (incoming, outgoing) => {
    if (!connections.begin(incoming, outgoing)) return;
    if (connections.isDraining && asksWhetherReady(incoming)) {
      outgoing.statusCode = 503;
      outgoing.setHeader('content-type', 'application/json').end('{"status":"stopping"}');
    } else {
      handle(incoming, outgoing);
    }
  });
  const { drainDelayMs = 0, socketFd = null } = options;
  const { address, port } = await listen(server, options);
  const host = socketFd === null ? options.host : address;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: (deadlineMs) => connections.drain({ delayMs: drainDelayMs, deadlineMs }),
  };
}
