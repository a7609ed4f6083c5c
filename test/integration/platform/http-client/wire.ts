/** A provider that speaks bytes: what it writes, when, and when it hangs up is the test's. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Test } from 'tap';
import type { AssayError } from '#core/contracts/errors.ts';
import type { ProviderClientOptions } from '#platform/http-client/client.ts';
import type { ProviderRequest, ProviderTimeouts } from '#platform/http-client/exchange.ts';
import { createProviderClient, type ProviderResponse } from '#platform/http-client/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';

export type Wire = {
  origin: string;
  /** Connections so far, in order. */
  sockets: Socket[];
  /** Whole requests so far, heads and bodies. */
  requests: string[];
};

export type WireOptions = {
  /** Called with each whole request and its place among all. */
  onRequest?: (socket: Socket, place: number, text: string) => void;
  onConnection?: (socket: Socket) => void;
  isTls?: boolean;
};

/** Starts one. */
export async function startWire(t: Test, options: WireOptions): Promise<Wire> {
  const wire: Wire = { origin: '', sockets: [], requests: [] };
  const accept = (socket: Socket) => {
    wire.sockets.push(socket);
    socket.on('error', () => {});
    options.onConnection?.(socket);
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      for (let end = endOfRequest(text); end !== null; end = endOfRequest(text)) {
        const request = text.slice(0, end);
        text = text.slice(end);
        wire.requests.push(request);
        options.onRequest?.(socket, wire.requests.length - 1, request);
      }
    });
  };
  const server: Server =
    options.isTls === true
      ? createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, accept)
      : createServer(accept);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of wire.sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  wire.origin = options.isTls === true ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  return wire;
}

function endOfRequest(text: string): number | null {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return null;
  const end = head + 4 + Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
  return text.length < end ? null : end;
}

/** What came of a call. */
export type Heard = { status: number | null; body: string; error: AssayError | null; events: string[] };

const TIMEOUTS: ProviderTimeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 };

/** A client, and what makes calls with it. */
export function startCalls(
  t: Test,
  options: Partial<Omit<ProviderClientOptions, 'timeouts' | 'now'>> & {
    timeouts?: Partial<ProviderTimeouts>;
  } = {},
) {
  const client = createProviderClient({
    concurrencyPerOrganization: 1_024,
    ...options,
    timeouts: { ...TIMEOUTS, ...options.timeouts },
    now: systemClock.monotonic,
  });
  t.teardown(() => client.close());
  /** Begins a call; `whole` resolves when it has ended, one way or the other. */
  const begin = (
    origin: string,
    changes: Partial<ProviderRequest> = {},
    onResponse: (body: ProviderResponse['body']) => void = () => {},
    onData: (chunk: Buffer) => void = () => {},
  ) => {
    const heard: Heard = { status: null, body: '', error: null, events: [] };
    const { promise: whole, resolve } = Promise.withResolvers<Heard>();
    const end = (event: string, error: AssayError | null) => {
      heard.events.push(event);
      heard.error = error;
      resolve(heard);
    };
    const leaving = new AbortController();
    const sent = client.send(
      {
        label: 'WIRE',
        organizationId: 'acme',
        origin,
        path: '/v1/chat/completions',
        headers: ['content-type', 'application/json'],
        body: Buffer.from('{}'),
        ...changes,
      },
      leaving.signal,
    );
    sent.then(
      ({ status, body }) => {
        heard.events.push('start');
        heard.status = status;
        onResponse(body);
        body.read({
          onData: (chunk) => {
            onData(chunk);
            heard.body += chunk.toString('latin1');
          },
          onEnd: () => end('end', null),
          onError: (error) => end('fail', error),
        });
      },
      (error) => {
        if (!leaving.signal.aborted) end('failure', error);
      },
    );
    const abort = () => leaving.abort();
    return { abort, whole, heard };
  };
  return { client, begin, call: (origin: string) => begin(origin).whole };
}

/** A response of a known length. */
export function reply(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;
}
