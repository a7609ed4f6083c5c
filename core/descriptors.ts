/** How many files and sockets this process may have open, and how many of them its clients may take. */
import { readFileSync } from 'node:fs';

/** What POSIX systems have at least, where the limit cannot be read. */
const UNKNOWN_LIMIT = 1_024;

/** The soft limit of open files (RLIMIT_NOFILE). */
export function descriptorLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    if (limit !== undefined) return limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(limit);
  } catch {
    // No /proc, as on macOS.
  }
  return UNKNOWN_LIMIT;
}

/**
 * For everything but clients and providers: a gateway at rest has 45 open (runtime, outbox, NATS, 12 connections to Postgres),
 * and a flood of connections has 64 that are turned away at a time.
 */
const HELD_BACK = 192;
/** With fewer there is no service. */
const FEWEST = 16;

/**
 * Connections of clients that a process may have.
 * @param perConnection descriptors that one of them may need: 2 where a call opens a connection to a provider
 */
export function connectionBound(limit: number, perConnection: 1 | 2): number {
  return Math.max(FEWEST, Math.floor((limit - HELD_BACK) / perConnection));
}
