/**
 * An HTTP/1.1 client of our own for the one thing a gateway does all day: calling providers. A request is one write, and
 * a response's bytes go straight from the socket to their handler. In a bare proxy of 1 KB calls undici's dispatcher takes 5–27 µs
 * more of CPU a call, of 51–70 (AMD EPYC, Node 24.21, 2026-11-21).
 */
import type { ProxyChoice } from '../proxy/mod.ts';
import { connectorTo } from './connect.ts';
import type { ProviderRequest } from './exchange.ts';
import { Pool, type PoolOptions } from './pool.ts';
import type { ProviderResponse } from './response.ts';

export type ProviderClient = {
  /**
   * Sends a request; resolves when the head of its response is there. When `signal` aborts, before that or while the body
   * is under way, the exchange is given up: the promise rejects with client_closed_request, or the body stops.
   * @throws AssayError provider_not_configured when the request cannot be written as HTTP; as a rejection, when no response
   *   comes: provider_unreachable, provider_timeout, provider_busy or provider_bad_answer
   */
  send(request: ProviderRequest, signal: AbortSignal): Promise<ProviderResponse>;
  /** Aborts what is under way and closes every connection. */
  close(): void;
};

export type ProviderClientOptions = PoolOptions & {
  /** The proxy for an address. Default: none for any. */
  proxyFor?: ProxyChoice;
};

const MAX_ORIGINS = 100;
/** How much later than their time deadlines are noticed: by that part of the shortest timeout. */
const LATENESS = 1 / 8;
const LONGEST_CHECK_MS = 1_000;

/** Makes the client: one pool of connections for each provider address. */
export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const { proxyFor = () => null } = options;
  const pools = new Map<string, Pool>();
  const poolFor = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (pool === undefined) {
      // Origins come from configuration alone, so this is a bound that is never met.
      if (pools.size >= MAX_ORIGINS) throw new Error('Too many provider addresses');
      pool = new Pool(origin, connectorTo(origin, proxyFor(new URL(origin))), options);
      pools.set(origin, pool);
    }
    return pool;
  };
  const { connectMs, firstByteMs, idleMs } = options.timeouts;
  const shortest = Math.min(connectMs, firstByteMs, idleMs, options.waitMs ?? connectMs);
  // One timer for all: one for each call, set and cleared, would cost more than looking at all of them now and then.
  const checks = setInterval(
    () => {
      for (const pool of pools.values()) pool.checkDeadlines();
    },
    Math.min(LONGEST_CHECK_MS, Math.max(1, shortest * LATENESS)),
  );
  checks.unref();
  return {
    send: (request, signal) => {
      const exchange = poolFor(request.origin).send(request);
      exchange.watch(signal);
      return exchange.response;
    },
    close: () => {
      clearInterval(checks);
      for (const pool of pools.values()) pool.destroy();
    },
  };
}
