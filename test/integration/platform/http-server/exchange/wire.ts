/** A server and a client that shows the bytes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { serve } from '#platform/http-server/mod.ts';

export type Wire = {
  readonly socket: Socket;
  /** What has come so far. */
  text(): string;
  send(bytes: string | Uint8Array): void;
  /** Waits until this has come; fails when the connection ends before. */
  until(part: string): Promise<void>;
  /** Resolves with how it ended: `end` by a FIN, or the code of an error. */
  ended: Promise<string>;
};

/** Serves `fetch` on a free port, and returns what connects to it. */
export async function served(
  t: Test,
  fetch: (request: Request) => Response | Promise<Response>,
): Promise<() => Promise<Wire>> {
  const server = await serve({ host: '127.0.0.1', port: 0, fetch });
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close(0);
  });
  return async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    const chunks: Buffer[] = [];
    const text = () => Buffer.concat(chunks).toString('latin1');
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise<string>((resolve) => {
      socket.once('end', () => resolve('end'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    await once(socket, 'connect');
    return {
      socket,
      text,
      ended,
      send: (bytes) => void socket.write(bytes),
      async until(part) {
        while (!text().includes(part)) {
          const ending = await Promise.race([once(socket, 'data').then(() => null), ended]);
          if (ending !== null && !text().includes(part))
            throw new Error(`The connection ended (${ending}) after ${JSON.stringify(text())}`);
        }
      },
    };
  };
}
