/**
 * Stops a server without failing a call. HTTP/1.1 has one way to end a kept-alive connection that cannot cross with a request
 * on its way: `Connection: close` on a response. So every response during a drain carries it, and an idle connection gets
 * time for one more call. A connection that has been idle for long is closed in the server's direction, and requests that
 * arrive on it then are read and not handled: the client sees an orderly end without a response, not a reset, and may call
 * again.
 */
import type { Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export type DrainOptions = {
  /** Time in which connections are still accepted, and idle ones kept, until load balancers notice: milliseconds. */
  delayMs: number;
  /** When calls that have not ended are cut, in milliseconds from the beginning of the drain, `delayMs` included. */
  deadlineMs: number;
};

/** An open connection, or one in its TLS handshake. */
export type OpenConnection = {
  /** When the connection became idle; null: it is in use. */
  readonly idleSince: number | null;
  /** Since when no whole head of a request is there; null: one is being handled. */
  readonly unusedSince: number | null;
  /** Since when the body of a request has been coming, so slowly that others may have its place; null: none is slow. */
  readonly slowSince: number | null;
  /** Ends the connection when its deadline has passed. */
  checkDeadline(): void;
  /** Refuses the request whose body is slow. */
  giveWay(): void;
  /** Closes the server's direction. */
  end(): void;
  /** Closes the connection at once. */
  destroy(): void;
};

export type Draining = {
  servers: readonly Server[];
  connections: ReadonlySet<OpenConnection>;
  /** Connections accepted so far. */
  accepted(): number;
  /** Milliseconds on the clock of the connections. */
  now(): number;
};

/**
 * Idle time after which a drain closes a connection. Shorter, and a client that pauses between two calls loses its connection
 * at the moment it calls; longer, and a stop waits for connections that are no longer used.
 */
const SILENCE_MS = 2_000;
const SWEEP_MS = 20;
/** Node accepts at least one connection in each turn of its event loop: after this time without one, none is waiting. */
const ACCEPT_QUIET_MS = 2;
/** Bound on the wait while new connections keep coming: another process shares the port then, and will accept them. */
const ACCEPT_MAX_MS = 500;
/** A destroyed socket emits `close` within a turn or two of the event loop. */
const CLOSED_MAX_MS = 500;

/** Stops the server. Resolves when it no longer listens, every connection is closed, and the requests cut have aborted. */
export async function drain(draining: Draining, { delayMs, deadlineMs }: DrainOptions): Promise<void> {
  const { servers, connections, accepted, now } = draining;
  const startedAtMs = now();
  const sweep = (): void => {
    const nowMs = now();
    for (const connection of connections) {
      const { idleSince } = connection;
      const keptUntilMs = Math.max(startedAtMs + delayMs, (idleSince ?? nowMs) + SILENCE_MS);
      if (nowMs >= startedAtMs + deadlineMs) connection.destroy();
      else if (idleSince !== null && nowMs >= keptUntilMs) connection.end();
      else connection.checkDeadline();
    }
  };
  const sweeping = setInterval(sweep, SWEEP_MS);
  if (delayMs > 0) await sleep(Math.min(delayMs, deadlineMs));
  await acceptWaiting(accepted);
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  await allClosed(connections);
  clearInterval(sweeping);
}

/** Accepts the connections that are waiting: the kernel would reset them when the listening socket closes. */
async function acceptWaiting(accepted: () => number): Promise<void> {
  const giveUpAtMs = performance.now() + ACCEPT_MAX_MS;
  let before: number;
  do {
    before = accepted();
    await sleep(ACCEPT_QUIET_MS);
    // A turn that took as long has not looked for connections since.
    await nextTurn();
  } while (accepted() > before && performance.now() < giveUpAtMs);
}

/**
 * Waits for the `close` events of the connections. They come some moments after the server counts as closed, and only they
 * make the gateway record the calls that were cut.
 */
async function allClosed(connections: ReadonlySet<OpenConnection>): Promise<void> {
  const giveUpAtMs = performance.now() + CLOSED_MAX_MS;
  while (connections.size > 0 && performance.now() < giveUpAtMs) await nextTurn();
}
