/** The limit on open files and sockets of this process, and the share of its clients. */
import { readFileSync } from 'node:fs';

/** A common default, used where the limit cannot be read. */
const UNKNOWN_LIMIT = 1_024;

/** Returns the soft limit of open files (RLIMIT_NOFILE). */
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
 * Descriptors for everything but clients and providers: an idle gateway has 45 open (runtime, outbox, NATS, 12 connections to
 * Postgres), and during a flood 64 refused connections are open at a time.
 */
const HELD_BACK = 192;
/** Least bound on clients: with fewer there is no service. */
const FEWEST = 16;
/**
 * Most descriptors for connections to providers: as many as four providers may have. A process with a high limit whose calls
 * go to more providers at once reaches other bounds first.
 */
const MOST_FOR_PROVIDERS = 4 * 1_024;

/**
 * Returns how many connections of clients a process may have.
 * @param callsProviders whether calls may open connections to providers, for which half of the descriptors are reserved
 */
export function connectionBound(limit: number, callsProviders: boolean): number {
  const left = limit - HELD_BACK;
  const forProviders = callsProviders ? Math.min(MOST_FOR_PROVIDERS, Math.ceil(left / 2)) : 0;
  return Math.max(FEWEST, left - forProviders);
}
