import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = [Address, number];

/** Every global unicast address assigned so far: addresses outside cannot be public hosts. */
const GLOBAL_UNICAST: AddressRange = ipaddr.parseCIDR('2000::/3');
/** The prefix of NAT64: on an IPv6-only network, every IPv4 host resolves to an address in it. */
const NAT64: AddressRange = ipaddr.parseCIDR('64:ff9b::/96');
/** Addresses in a public range that lead into a cloud's virtual machines all the same: Azure's platform address. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);
const ISATAP_INTERFACE = 0x5efe;

/**
 * Parses an address as the network treats it: an IPv6 address that embeds an IPv4 one (mapped, NAT64) is that IPv4 address.
 * Returns null for any other text, and for an address with a zone, which names an interface of this machine.
 */
function meaningOf(text: string): Address | null {
  if (isIP(text) === 0 || text.includes('%')) return null;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address;
  const embedsIPv4 = address.isIPv4MappedAddress() || address.match(NAT64 as [ipaddr.IPv6, number]);
  return embedsIPv4 ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

function isIsatap(address: ipaddr.IPv6): boolean {
  // The masked bit tells whether the embedded IPv4 address is globally unique.
  return (address.parts[4]! & ~0x0200) === 0 && address.parts[5] === ISATAP_INTERFACE;
}

/**
 * Returns whether an address belongs to a host of the public internet, by IANA's registries of special addresses. Not public:
 * loopback, private, link-local, shared (CGNAT), multicast, reserved, documentation; those inside an IPv4-mapped or NAT64
 * address; tunnels to an IPv4 address that the sender may choose (6to4, Teredo, ISATAP).
 */
export function isPublicAddress(text: string): boolean {
  const address = meaningOf(text);
  if (address === null || address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return !METADATA_ADDRESSES.has(address.toString());
  return address.match(GLOBAL_UNICAST as [ipaddr.IPv6, number]) && !isIsatap(address);
}

/** Returns whether a host of a URL, or an address, is this machine itself. Names other than `localhost` are not resolved. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || meaningOf(bare)?.range() === 'loopback';
}

/** Returns whether an address lies in one of `ranges`. */
export function isInRanges(text: string, ranges: readonly AddressRange[]): boolean {
  const address = meaningOf(text);
  return (
    address !== null && ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
  );
}

/** Parses a range such as `10.0.0.0/8`, or one address; null for anything else. */
export function parseRange(text: string): AddressRange | null {
  const [base = '', bits, ...rest] = text.split('/');
  const family = isIP(base);
  if (family === 0 || base.includes('%') || rest.length > 0) return null;
  const most = family === 4 ? 32 : 128;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return length <= most ? [ipaddr.parse(base), length] : null;
}
