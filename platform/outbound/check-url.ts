import { isIP } from 'node:net';
import { type AllowList, foldHost } from './allow-list.ts';

const LONGEST_URL = 2_048;
/** Domains without public hosts: reserved (RFC 6761, 6762, 8375, ICANN's .internal), or in use for intranets. */
const LOCAL_DOMAINS = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'lan',
  'corp',
  'home',
  'private',
  'home.arpa',
];

/** Returns the host of a URL in the form for sockets: an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return foldHost(url.hostname.replace(/^\[|\]$/g, ''));
}

function isLocalName(host: string): boolean {
  return !host.includes('.') || LOCAL_DOMAINS.some((domain) => host.endsWith(`.${domain}`));
}

/**
 * Checks a URL that a user gave. Returns why it cannot be called, as the rest of a sentence that names the field ("must be
 * …"); null when a call may be tried. Checks the text alone: a look-up of the name would reveal the names inside this
 * network, and would prove nothing, because the name can resolve to another address by the time of the call. The connector
 * checks the address. The URL is not quoted: it may hold a password.
 */
export function checkOutboundUrl(text: string, allow: AllowList): string | null {
  if (text.length > LONGEST_URL) return `must have at most ${LONGEST_URL} characters`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be a whole http or https address';
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  const host = hostOf(url);
  if (allow.hasHost(host)) return null;
  const isOpen = isIP(host) === 0 ? !isLocalName(host) : allow.admits(host);
  return isOpen ? null : 'must lead to a public host, or to one that OUTBOUND_ALLOW admits';
}
