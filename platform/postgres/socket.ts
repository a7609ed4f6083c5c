/** The way to Postgres, which is given up when nothing comes from there. */
import { connect, type Socket } from 'node:net';

/** Where postgres.js was told to connect; `path` is a Unix socket. */
export type SocketOptions = { path: string | false; host: string[]; port: number[] };

/** So often in that time it is looked at. */
const LOOKS = 10;

/**
 * Connects, and destroys the connection when not a byte has come for `silenceMs` (0: never): what waits on it is
 * rejected, and the next statement gets another. After a failover, or behind a firewall that forgot the connection,
 * neither end is told; the system goes on trying for a quarter of an hour (tcp_retries2), and Node cannot ask it to
 * give up sooner.
 */
export function openSocket({ path, host, port }: SocketOptions, silenceMs: number): Socket {
  // As libpq does, statements go out at once, though the one before is not acknowledged yet.
  const socket =
    path === false ? connect({ host: host[0]!, port: port[0]!, noDelay: true }) : connect({ path });
  if (silenceMs > 0) watch(socket, silenceMs);
  // By this name postgres.js checks the server's certificate, and tells of it in errors.
  return Object.assign(socket, { host: host[0], port: port[0] });
}

function watch(socket: Socket, silenceMs: number): void {
  let heard = 0;
  let silentLooks = 0;
  // Counted in looks, not by the clock: a process that stood still has not listened. What comes is counted by the
  // socket, since TLS takes its events over.
  const looking = setInterval(() => {
    silentLooks = socket.bytesRead === heard ? silentLooks + 1 : 0;
    heard = socket.bytesRead;
    if (silentLooks < LOOKS && !socket.destroyed) return;
    clearInterval(looking);
    const error = new Error(`Nothing came from Postgres for ${silenceMs} ms`);
    if (!socket.destroyed) socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  }, silenceMs / LOOKS);
  looking.unref();
}
