import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Returns whether calls to this host and port use no proxy. */
export type Bypass = (host: string, port: number) => boolean;

/** A bypass, or the place of the first invalid entry, from 1. */
export type NoProxyReading = { bypass: Bypass } | { badEntry: number };

/** An entry of the list; null as port stands for every port. */
type Entry = { port: number | null; matches(host: string): boolean };

/** As in Go, addresses of this machine never use a proxy. */
const LOCAL_RANGES = ['127.0.0.0/8', '::1', '0.0.0.0', '::'].map((text) => rangeOf(text)!);
/** An address in brackets, or a name in any script; with or without a port. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:/?#@\\%[\]]+))(?::(\d{1,5}))?$/;
const LARGEST_PORT = 65_535;
const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** Normalizes a URL's host for comparison: lower case, no brackets, no dot at the end. */
function folded(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/(?<=.)\.$/, '');
}

function isLocal(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || LOCAL_RANGES.some((range) => isIn(range, host))
  );
}

/**
 * Parses `NO_PROXY`: hosts separated by commas or spaces. `example.com` and `.example.com` stand for that name and all below
 * it, `*.example.com` for those below it only, `10.0.0.7` and `10.0.0.0/8` for addresses in URLs, `*` for everything. A port
 * may follow: `example.com:8443`, `[::1]:8443`. Loopback is always in the list.
 */
export function parseNoProxy(text: string): NoProxyReading {
  const entries: Entry[] = [];
  for (const [at, written] of text
    .split(/[,\s]+/)
    .filter((part) => part !== '')
    .entries()) {
    const entry = parseEntry(written);
    if (entry === null) return { badEntry: at + 1 };
    entries.push(entry);
  }
  return {
    bypass: (given, port) => {
      const host = folded(given);
      if (isLocal(host)) return true;
      return entries.some((entry) => (entry.port === null || entry.port === port) && entry.matches(host));
    },
  };
}

function parseEntry(text: string): Entry | null {
  const range = rangeOf(text);
  if (range !== null) return inRange(range, null);
  const [, bracketed, name = '', port] = WITH_PORT.exec(text) ?? [];
  const number = port === undefined ? null : Number(port);
  if (number !== null && (number === 0 || number > LARGEST_PORT)) return null;
  if (bracketed !== undefined && isIP(bracketed) !== 6) return null;
  if (name === '*') return { port: number, matches: () => true };
  const isBelowAlone = name.startsWith('*.');
  const suffix = bracketed ?? domainToASCII(folded(name.replace(/^\*?\./, '')));
  const address = isIP(suffix) === 0 ? null : rangeOf(suffix);
  if (address !== null) return inRange(address, number);
  if (!NAME.test(suffix)) return null;
  return {
    port: number,
    matches: (host) => host.endsWith(`.${suffix}`) || (!isBelowAlone && host === suffix),
  };
}

function inRange(range: BlockList, port: number | null): Entry {
  return { port, matches: (host) => isIn(range, host) };
}

/** Parses an address or a range of addresses; null for anything else. */
function rangeOf(text: string): BlockList | null {
  const [, base = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = familyOf(base);
  if (family === null) return null;
  const most = family === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? most : Number(bits);
  if (length > most) return null;
  const range = new BlockList();
  range.addSubnet(base, length, family);
  return range;
}

function isIn(range: BlockList, host: string): boolean {
  const family = familyOf(host);
  return family !== null && range.check(host, family);
}

function familyOf(text: string): 'ipv4' | 'ipv6' | null {
  const family = isIP(text);
  return family === 0 || text.includes('%') ? null : family === 4 ? 'ipv4' : 'ipv6';
}
