/**
 * How a server stops without failing a call. HTTP/1.1 knows one way to end a kept-alive connection that no request can
 * cross: `Connection: close` on an answer. So from the first moment of a drain every answer says it, and a connection
 * that carries no call gets time for one more. One that has long been silent is closed in our direction first, and what arrives
 * on it then is read and never run: its client sees an orderly end without an answer, not a reset, and may call again.
 */
import type { Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export type DrainOptions = {
  /** How long connections are still accepted, for load balancers that have yet to notice. Silent ones are kept as long. */
  delayMs: number;
  /** When calls that have not ended are cut; the delay is part of it. */
  deadlineMs: number;
};

/** A connection, or one that is about to be. */
export type OpenConnection = {
  /** Since when it has carried nothing; null: it carries something. */
  readonly idleSince: number | null;
  /** Gives up what has waited for too long. */
  checkDeadline(): void;
  /** Closes our direction. */
  end(): void;
  /** Closes it at once. */
  destroy(): void;
};

export type Draining = {
  server: Server;
  connections: ReadonlySet<OpenConnection>;
  /** Connections so far. */
  accepted(): number;
  /** Milliseconds on the clock of the connections. */
  now(): number;
};

/**
 * A connection that has been silent for so long when the drain begins, or gets so in it, is closed. Shorter, and a client
 * that pauses between two calls finds its connection gone at the moment it calls; longer, and a stop waits for
 * connections that nobody uses any more.
 */
const SILENCE_MS = 2_000;
const SWEEP_MS = 20;
/** Node accepts one connection a turn of its event loop: after so long without any, none is left waiting. */
const ACCEPT_QUIET_MS = 2;
/** Where they never cease, others listen as well and will take them. */
const ACCEPT_MAX_MS = 500;
/** A destroyed socket says that it is closed within a turn or two of the event loop. */
const CLOSED_MAX_MS = 500;

/** Ends it all. Resolves when the server does not listen, every connection is closed, and the calls on it know that. */
export async function drain(draining: Draining, { delayMs, deadlineMs }: DrainOptions): Promise<void> {
  const { server, connections, accepted, now } = draining;
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
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await allClosed(connections);
  clearInterval(sweeping);
}

/** Connections that wait to be accepted when the socket closes are reset by the kernel: so they are accepted first. */
async function acceptWaiting(accepted: () => number): Promise<void> {
  const giveUpAtMs = performance.now() + ACCEPT_MAX_MS;
  let before: number;
  do {
    before = accepted();
    await sleep(ACCEPT_QUIET_MS);
  } while (accepted() > before && performance.now() < giveUpAtMs);
}

/**
 * A server is closed when its last socket is destroyed; the socket itself tells that it is closed some moments later, and
 * only then are the calls that were cut recorded.
 */
async function allClosed(connections: ReadonlySet<OpenConnection>): Promise<void> {
  const giveUpAtMs = performance.now() + CLOSED_MAX_MS;
  while (connections.size > 0 && performance.now() < giveUpAtMs) await nextTurn();
}
