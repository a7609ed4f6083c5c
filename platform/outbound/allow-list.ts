import { type AddressRange, isInRanges, isPublicAddress, parseRange } from './address.ts';

/** The destinations that an operator admits beside the public internet. */
export type AllowList = {
  /** Returns whether this host may be called at any address. */
  hasHost(host: string): boolean;
  /** Returns whether a connection to this address is allowed; public addresses always are. */
  admits(address: string): boolean;
};

/** Normalizes a host name for comparison: lower case, no dot at the end. */
export function foldHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/;

/**
 * Parses the entries of `OUTBOUND_ALLOW`: an address, a range of addresses (CIDR), or a host name, which does not stand for
 * the names below it.
 * @returns the list, or the first invalid entry
 */
export function parseAllowList(entries: readonly string[]): { allow: AllowList } | { badEntry: string } {
  const hosts = new Set<string>();
  const ranges: AddressRange[] = [];
  for (const entry of entries) {
    const range = parseRange(entry);
    const host = foldHost(entry);
    if (range !== null) ranges.push(range);
    // URLs treat a host whose last label is a number as an IPv4 address.
    else if (HOST_NAME.test(host) && !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(host)) hosts.add(host);
    else return { badEntry: entry };
  }
  return {
    allow: {
      hasHost: (host) => hosts.has(foldHost(host)),
      admits: (address) => isPublicAddress(address) || isInRanges(address, ranges),
    },
  };
}

/**
 * Returns the list of entries that the configuration has checked.
 * @throws Error for an entry that it should have refused
 */
export function allowListOf(entries: readonly string[]): AllowList {
  const parsed = parseAllowList(entries);
  if ('badEntry' in parsed) throw new Error(`The configuration admits no such entry: ${parsed.badEntry}`);
  return parsed.allow;
}
