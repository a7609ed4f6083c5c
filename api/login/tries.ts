/** Limit of the tries to log in from one address. Keys cannot be guessed; this keeps the tries from being a load. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { AssayError } from '#core/contracts/errors.ts';
import { serverRequestOf } from '#platform/http-server/mod.ts';

const MAX_TRIES = 10;
const WINDOW_MS = 60_000;
/** Addresses in memory, of 200 bytes each. With more of them at once, those that tried longest ago are forgotten. */
const MAX_ADDRESSES = 10_000;
/** Bits of an IPv6 address that one customer of a provider has at least. */
const IPV6_BITS = 64;

/** An address has tried too often. */
export class LoginRateError extends AssayError {
  /** Whole seconds until another try is taken; at least 1. */
  readonly retryAfterS: number;

  constructor(waitMs: number) {
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1_000));
    super(
      'too_many_logins',
      `This address has tried to log in ${MAX_TRIES} times within a minute: try again in ${retryAfterS} s`,
    );
    this.retryAfterS = retryAfterS;
  }
}

/** Creates the function that counts a try, or throws a LoginRateError. */
export function createTries(): (address: string, nowMs: number) => void {
  /** The moments of the latest tries, oldest first. */
  const tries = new LRUCache<string, number[]>({ max: MAX_ADDRESSES });
  return (address, nowMs) => {
    const network = networkOf(address);
    const recent = (tries.get(network) ?? []).filter((at) => at > nowMs - WINDOW_MS);
    if (recent.length >= MAX_TRIES) throw new LoginRateError(recent[0]! + WINDOW_MS - nowMs);
    tries.set(network, [...recent, nowMs]);
  };
}

/** Returns an IPv4 address, also one that is embedded, or the first half of an IPv6 address. */
function networkOf(address: string): string {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 0) return '';
  const parsed = ipaddr.process(bare);
  return parsed instanceof ipaddr.IPv4
    ? parsed.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${IPV6_BITS}`).toString();
}

/**
 * Returns the address that a browser calls from. Behind a proxy that ends TLS, the last one that the proxy has noted: with the
 * proxy's own, ten tries of a stranger would shut everybody out. A caller that passes the proxy by could make addresses up,
 * and would gain tries at keys of 256 bits.
 */
export function addressOf(request: Request, isProxied: boolean): string {
  const { peer } = serverRequestOf(request);
  const noted = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
  return isProxied && isIP(noted) !== 0 ? noted : (peer.address ?? '');
}
