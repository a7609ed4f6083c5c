/** Sockets to Postgres, which are closed when no bytes arrive for too long. */
import { connect, type Socket } from 'node:net';

/** The address that postgres.js connects to; `path` is a Unix socket. */
export type SocketOptions = { path: string | false; host: string[]; port: number[] };

/** Checks of a connection within the allowed silence. */
const CHECKS = 10;

/**
 * Connects, and destroys the connection when no byte has arrived for `silenceMs` (0: never): its statements are rejected, and
 * the next statement gets another connection. After a failover, or behind a firewall that forgot the connection, neither end
 * is told; the system goes on retrying for a quarter of an hour (tcp_retries2), and Node cannot shorten that.
 */
export function openSocket({ path, host, port }: SocketOptions, silenceMs: number): Socket {
  // As in libpq, statements are sent at once, although the one before is not acknowledged yet.
  const socket =
    path === false ? connect({ host: host[0]!, port: port[0]!, noDelay: true }) : connect({ path });
  if (silenceMs > 0) watch(socket, silenceMs);
  // postgres.js checks the server's certificate by this name, and quotes it in errors.
  return Object.assign(socket, { host: host[0], port: port[0] });
}

function watch(socket: Socket, silenceMs: number): void {
  let seenBytes = 0;
  // The first round comes before a whole tenth has passed.
  let silentChecks = -1;
  // Silence is counted in checks, not by the clock: a process that stood still has not listened. The socket counts bytes,
  // because TLS takes over its events.
  const check = () => {
    silentChecks = socket.bytesRead === seenBytes ? silentChecks + 1 : 0;
    seenBytes = socket.bytesRead;
    if (silentChecks < CHECKS && !socket.destroyed) return;
    endChecking();
    const error = new Error(`Nothing came from Postgres for ${silenceMs} ms`);
    if (!socket.destroyed) socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  };
  const endChecking = inRounds(silenceMs / CHECKS, check);
}

type Round = { checks: Set<() => void>; timer: NodeJS.Timeout };

/** The checks of this process by their interval: connections have one timer together, or each would wake an idle process. */
const rounds = new Map<number, Round>();

/** Calls `check` every `everyMs`, together with all others of this interval. Returns the function that ends it. */
function inRounds(everyMs: number, check: () => void): () => void {
  const round = rounds.get(everyMs) ?? beginRound(everyMs);
  round.checks.add(check);
  return () => {
    round.checks.delete(check);
    if (round.checks.size > 0) return;
    clearInterval(round.timer);
    if (rounds.get(everyMs) === round) rounds.delete(everyMs);
  };
}

function beginRound(everyMs: number): Round {
  const checks = new Set<() => void>();
  const runAll = () => {
    for (const one of [...checks]) one();
  };
  const round = { checks, timer: setInterval(runAll, everyMs) };
  round.timer.unref();
  rounds.set(everyMs, round);
  return round;
}
