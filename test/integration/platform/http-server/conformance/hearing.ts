/** What two servers make of the same bytes: Assay's own and Node's, over real sockets. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import { ClientConnection } from '#platform/http-server/exchange/mod.ts';
import { Reply, readBody } from '#platform/http-server/mod.ts';

export type HeardRequest = { method: string; target: string; body: string };

export type Heard = {
  /** Requests whose bodies arrived whole, in order. */
  requests: HeardRequest[];
  /** Why the server refused what came behind them; null: it did not. */
  refusal: string | null;
};

/** Sends pieces on a connection of its own, and resolves with what the server made of them. */
export type Hear = (pieces: readonly Buffer[]) => Promise<Heard>;

type Ears = { heard: Heard; attach(socket: Socket): void };

const MAX_BODY_BYTES = 10_000_000;
/** Turns of the event loop within which a server has dealt with bytes that it has read. */
const TURNS = 12;

/** Assay's server. */
export function hearAssay(t: Test): Promise<Hear> {
  return listen(t, () => {
    const heard: Heard = { requests: [], refusal: null };
    const fetch = async (request: Request): Promise<Response> => {
      const target = request.url.slice('http://localhost'.length);
      const body = (await readBody(request, MAX_BODY_BYTES)).toString('latin1');
      heard.requests.push({ method: request.method, target, body });
      return new Reply('');
    };
    const attach = (socket: Socket): void => {
      new ClientConnection(socket, {
        fetch,
        formatError: (error) => {
          // Not what a handler says of a body that broke off.
          if (error.code !== 'internal_error') heard.refusal = error.message.replace(/^.* HTTP\/1\.1: /, '');
          return '';
        },
        isDraining: () => false,
        now: () => 0,
        date: () => 'Thu, 01 Jan 1970 00:00:00 GMT',
        onClosed: () => {},
      });
    };
    return { heard, attach };
  });
}

/** Node's server, whose parser is llhttp, in its strict mode. */
export function hearNode(t: Test): Promise<Hear> {
  return listen(t, () => {
    const heard: Heard = { requests: [], refusal: null };
    // Without the check of Host, which node answers by itself and in silence.
    const server = createHttpServer({ insecureHTTPParser: false, requireHostHeader: false });
    for (const event of ['request', 'checkContinue', 'checkExpectation'])
      server.on(event, (request, response) => {
        if (event === 'checkContinue') response.writeContinue();
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => pieces.push(piece));
        request.on('end', () => {
          const body = Buffer.concat(pieces).toString('latin1');
          heard.requests.push({ method: request.method, target: pathOf(request.url), body });
          // With a length, as Node would otherwise close the connection of HTTP/1.0.
          response.setHeader('content-length', 0).end();
        });
      });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      heard.refusal ??= error.code ?? error.message;
      socket.destroy();
    });
    return { heard, attach: (socket) => void server.emit('connection', socket) };
  });
}

/** Node leaves the address of an absolute target to its handlers. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') || target.startsWith('*') ? path : `/${path}`;
}

async function listen(t: Test, makeEars: () => Ears): Promise<Hear> {
  const accepted: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    accepted.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(() => server.close());
  return async (pieces) => {
    const client = connect({ port, host: '127.0.0.1', noDelay: true });
    client.on('error', () => {});
    client.resume();
    await once(client, 'connect');
    while (accepted.length === 0) await nextTurn();
    const socket = accepted.shift()!;
    const { heard, attach } = makeEars();
    attach(socket);
    try {
      await sendAll(client, socket, pieces);
      for (let turn = 0; turn < TURNS; turn += 1) {
        const before = heard.requests.length;
        await nextTurn();
        if (heard.requests.length > before) turn = 0;
      }
    } finally {
      client.destroy();
      socket.destroy();
    }
    return heard;
  };
}

/** Writes each piece once the server has read the one before, or no longer reads. */
async function sendAll(client: Socket, socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  let sentBytes = 0;
  for (const piece of pieces) {
    if (client.destroyed || socket.destroyed || socket.writableEnded) return;
    client.write(piece);
    sentBytes += piece.length;
    while (socket.bytesRead < sentBytes && !socket.destroyed && !socket.isPaused() && !client.destroyed)
      await nextTurn();
  }
}
