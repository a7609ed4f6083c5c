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
 * For connections to providers at most: as many as four of them may have. A process with a high limit whose calls go to more
 * providers at once has other bounds before this one.
 */
const MOST_FOR_PROVIDERS = 4 * 1_024;

/**
 * Connections of clients that a process may have.
 * @param callsProviders whether a call may open a connection to a provider: half of the descriptors are held back for those
 */
export function connectionBound(limit: number, callsProviders: boolean): number {
  const left = limit - HELD_BACK;
  const forProviders = callsProviders ? Math.min(MOST_FOR_PROVIDERS, Math.ceil(left / 2)) : 0;
  return Math.max(FEWEST, left - forProviders);
}
