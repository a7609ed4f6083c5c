import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = [Address, number];

/** All that is given out as global unicast so far: whatever lies outside cannot be a public host. */
const GLOBAL_UNICAST: AddressRange = ipaddr.parseCIDR('2000::/3');
/** NAT64's own prefix: on a network of IPv6 only, this is what every IPv4 host resolves to. */
const NAT64: AddressRange = ipaddr.parseCIDR('64:ff9b::/96');
/** Public by their range, and inside every virtual machine of a cloud all the same: Azure's platform address. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);
const ISATAP_INTERFACE = 0x5efe;

/**
 * An address in what it means to the network: an IPv4 address that is written as an IPv6 one (mapped, NAT64) is that
 * IPv4 address. Null for what is no address, and for one with a zone, which names an interface of this machine.
 */
function meaningOf(text: string): Address | null {
  if (isIP(text) === 0 || text.includes('%')) return null;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address;
  const embedsIPv4 = address.isIPv4MappedAddress() || address.match(NAT64 as [ipaddr.IPv6, number]);
  return embedsIPv4 ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

function isIsatap(address: ipaddr.IPv6): boolean {
  // The bit says whether the IPv4 address that follows claims to be unique.
  return (address.parts[4]! & ~0x0200) === 0 && address.parts[5] === ISATAP_INTERFACE;
}

/**
 * Whether an address belongs to a host of the public internet, as IANA's registries of special addresses have it. Not
 * public: loopback, private, link-local, shared (CGNAT), multicast, reserved, documentation; those inside an IPv4-mapped
 * or NAT64 address; every tunnel that leads to an IPv4 address of somebody's choice (6to4, Teredo, ISATAP).
 */
export function isPublicAddress(text: string): boolean {
  const address = meaningOf(text);
  if (address === null || address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return !METADATA_ADDRESSES.has(address.toString());
  return address.match(GLOBAL_UNICAST as [ipaddr.IPv6, number]) && !isIsatap(address);
}

/** Whether an address lies in one of `ranges`. */
export function isInRanges(text: string, ranges: readonly AddressRange[]): boolean {
  const address = meaningOf(text);
  return (
    address !== null && ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
  );
}

/** `10.0.0.0/8`, or one address, as a range; null when it is neither. */
export function parseRange(text: string): AddressRange | null {
  const [base = '', bits, ...rest] = text.split('/');
  const family = isIP(base);
  if (family === 0 || base.includes('%') || rest.length > 0) return null;
  const most = family === 4 ? 32 : 128;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return length <= most ? [ipaddr.parse(base), length] : null;
}
