import { type AddressRange, isInRanges, isPublicAddress, parseRange } from './address.ts';

/** What an operator admits beside the public internet. */
export type AllowList = {
  /** Whether this host may be reached at whatever address it has. */
  hasHost(host: string): boolean;
  /** Whether a connection to this address is allowed, the public ones included. */
  admits(address: string): boolean;
};

/** A host name as it is compared: in lower case, without the dot of the root. */
export function foldHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/;

/**
 * Reads entries of `OUTBOUND_ALLOW`: an address, a range of addresses (CIDR), or a host name, which is admitted by that
 * very name and none below it.
 * @returns the list, or the entry that is none of these
 */
export function parseAllowList(entries: readonly string[]): { allow: AllowList } | { badEntry: string } {
  const hosts = new Set<string>();
  const ranges: AddressRange[] = [];
  for (const entry of entries) {
    const range = parseRange(entry);
    const host = foldHost(entry);
    if (range !== null) ranges.push(range);
    // A last label of digits makes it an address to a URL, however it is written.
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
