/**
 * How a server stops without failing a call. HTTP/1.1 knows one way to end a kept-alive connection that no request can
 * cross: `Connection: close` on an answer. So from the first moment of a drain every answer says it, and a connection
 * that carries no call gets time for one more. One that has long been silent is closed in our direction first, and what arrives
 * on it then is read and never run: its client sees an orderly end without an answer, not a reset, and may call again.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type DrainOptions = {
  /** How long connections are still accepted, for load balancers that have yet to notice. Silent ones are kept as long. */
  delayMs: number;
  /** When calls that have not ended are cut; the delay is part of it. */
  deadlineMs: number;
};

export type Connections = {
  readonly isDraining: boolean;
  /** To be called with each request, before anything is done for it; false: its connection has ended, so leave it. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
  /** Ends it all. Resolves when the server does not listen and every connection is closed. */
  drain(options: DrainOptions): Promise<void>;
};

/**
 * A connection that has been silent for so long when the drain begins, or gets so in it, is closed. Shorter, and a client
 * that pauses between two calls finds its connection gone at the moment it calls; longer, and a stop waits for
 * connections that nobody uses any more.
 */
const SILENCE_MS = 2_000;
/** After we closed our direction: for the client to see it and to close its own. */
const LINGER_MS = 1_000;
const SWEEP_MS = 20;
/** Node accepts one connection a turn of its event loop: after so long without any, none is left waiting. */
const ACCEPT_QUIET_MS = 2;
/** Where they never cease, others listen as well and will take them. */
const ACCEPT_MAX_MS = 500;

type Connection = {
  /** Calls whose answers are not through. */
  calls: number;
  /** The answer to the latest call: the one that may say that it is the last. */
  latest: ServerResponse | null;
  /** What had been read when the last answer was through: beyond it, a new call has begun to arrive. */
  bytesAtRest: number;
  /** Since when it has carried no call. */
  restsSinceMs: number;
  /** When we closed our direction. */
  closedAtMs: number | null;
};

/** Watches a server's connections from its start, so that they can be ended in order. */
export function watchConnections(server: Server): Connections {
  const connections = new Map<Socket, Connection>();
  let accepted = 0;
  let isDraining = false;

  server.on('connection', (socket) => {
    accepted += 1;
    connections.set(socket, {
      calls: 0,
      latest: null,
      bytesAtRest: 0,
      restsSinceMs: performance.now(),
      closedAtMs: null,
    });
    socket.once('close', () => connections.delete(socket));
  });

  function begin(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { socket } = incoming;
    const connection = connections.get(socket);
    if (connection === undefined || connection.closedAtMs !== null) {
      incoming.resume();
      return false;
    }
    connection.calls += 1;
    connection.latest = outgoing;
    if (isDraining) outgoing.shouldKeepAlive = false;
    const rest = () => {
      connection.bytesAtRest = socket.bytesRead;
      connection.restsSinceMs = performance.now();
    };
    outgoing.once('close', () => {
      connection.calls -= 1;
      rest();
      // What remains of a body that nobody wanted is not a new call.
      if (!incoming.complete) incoming.once('end', rest).resume();
    });
    return true;
  }

  function sweep(keepUntilMs: number, deadlineAtMs: number): void {
    const nowMs = performance.now();
    for (const [socket, connection] of connections) {
      const { calls, bytesAtRest, restsSinceMs, closedAtMs } = connection;
      if (nowMs >= deadlineAtMs || (closedAtMs !== null && nowMs >= closedAtMs + LINGER_MS)) {
        socket.destroy();
      } else if (closedAtMs === null && calls === 0 && socket.bytesRead === bytesAtRest) {
        if (nowMs < Math.max(keepUntilMs, restsSinceMs + SILENCE_MS)) continue;
        connection.closedAtMs = nowMs;
        socket.end();
      }
    }
  }

  /** Connections that wait to be accepted when the socket closes are reset by the kernel: so they are accepted first. */
  async function acceptWaiting(): Promise<void> {
    const giveUpAtMs = performance.now() + ACCEPT_MAX_MS;
    let before: number;
    do {
      before = accepted;
      await sleep(ACCEPT_QUIET_MS);
    } while (accepted > before && performance.now() < giveUpAtMs);
  }

  return {
    get isDraining() {
      return isDraining;
    },
    begin,
    async drain({ delayMs, deadlineMs }) {
      const startedAtMs = performance.now();
      isDraining = true;
      // An answer whose headers are out cannot say it any more: its connection has its grace when it is through.
      for (const { latest } of connections.values())
        if (latest?.headersSent === false) latest.shouldKeepAlive = false;
      const sweeping = setInterval(sweep, SWEEP_MS, startedAtMs + delayMs, startedAtMs + deadlineMs);
      if (delayMs > 0) await sleep(Math.min(delayMs, deadlineMs));
      await acceptWaiting();
      // Not http's own `close`: it would destroy silent connections at once, and no longer bound how long a head may take.
      await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      clearInterval(sweeping);
    },
  };
}
