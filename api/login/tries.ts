/**
 * Limit of the tries to log in from one address that fail, and of those under way at once. Keys cannot be guessed; this keeps
 * the tries from being a load.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import { serverRequestOf } from '#platform/http-server/mod.ts';
import { createLru } from '#platform/process/lru.ts';

const MAX_TRIES = 10;
const WINDOW_MS = 60_000;
/** Addresses in memory, of 200 bytes each. With more of them at once, those that tried longest ago are forgotten. */
const MAX_ADDRESSES = 10_000;
/** Bits of an IPv6 address that one customer of a provider has at least. */
const IPV6_BITS = 64;

const TRIED_IN_VAIN = `tried to log in ${MAX_TRIES} times in vain within a minute`;
const TRIES_UNDER_WAY = `${MAX_TRIES} tries to log in that failed or are under way`;

/** An address has tried too often. */
export class LoginRateError extends AssayError {
  /** Whole seconds until another try is taken; at least 1. */
  readonly retryAfterS: number;

  /** @param what what the address has done too often */
  constructor(what: string, waitMs: number) {
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1_000));
    super('too_many_logins', `This address has ${what}: try again in ${retryAfterS} s`);
    this.retryAfterS = retryAfterS;
  }
}

/** Runs a try to log in from an address, unless the address has tried too often. @throws LoginRateError; what the try throws */
export type Tries = <Result>(address: string, nowMs: number, logIn: () => Promise<Result>) => Promise<Result>;

type TriesOfAddress = {
  /** The moments at which the latest tries that failed began, oldest first. */
  failed: number[];
  /** Each may fail, so each counts until it has ended. */
  underWay: number;
};

/** Wait of an address whose tries under way fill its limit: they end within moments, and most succeed. */
const UNDER_WAY_MS = 1_000;

export function createTries(): Tries {
  const addresses = createLru<TriesOfAddress>(MAX_ADDRESSES);
  return async (address, nowMs, logIn) => {
    const network = networkOf(address);
    const own = addresses.get(network) ?? { failed: [], underWay: 0 };
    own.failed = own.failed.filter((at) => at > nowMs - WINDOW_MS);
    if (own.failed.length >= MAX_TRIES) {
      throw new LoginRateError(TRIED_IN_VAIN, own.failed[0]! + WINDOW_MS - nowMs);
    }
    if (own.failed.length + own.underWay >= MAX_TRIES) {
      throw new LoginRateError(TRIES_UNDER_WAY, UNDER_WAY_MS);
    }
    own.underWay += 1;
    addresses.set(network, own);
    try {
      return await logIn();
    } catch (error) {
      if (isCallersFailure(error)) own.failed.push(nowMs);
      throw error;
    } finally {
      own.underWay -= 1;
    }
  };
}

/** Returns whether a try failed for what was sent, and not because a store is away. */
function isCallersFailure(error: unknown): boolean {
  return error instanceof AssayError && httpStatusOf(error) < 500;
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

/** An address with the port of its caller, which some proxies note too (Azure's, and AWS's on demand); brackets around IPv6. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/;

function withoutPort(noted: string): string {
  const [, v6, v4] = WITH_PORT.exec(noted) ?? [];
  return v6 ?? v4 ?? noted;
}

/**
 * Returns the address that a browser calls from. Behind a proxy that ends TLS, the last one that the proxy has noted: with the
 * proxy's own, ten tries of a stranger would shut everybody out. A caller that passes the proxy by could make addresses up,
 * and would gain tries at keys of 256 bits.
 */
export function addressOf(request: Request, isProxied: boolean): string {
  const { peer } = serverRequestOf(request);
  const noted = withoutPort(request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '');
  return isProxied && isIP(noted) !== 0 ? noted : (peer.address ?? '');
}
