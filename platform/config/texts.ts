/** Texts with a form of their own: addresses, lists, proxies, keys. Values that may hold a secret are never quoted. */
import { isLoopback, parseAllowList } from '../outbound/mod.ts';
import { readDatabaseAddress } from '../postgres/address/mod.ts';
import { parseNoProxy, parseProxyAddress } from '../proxy/mod.ts';
import { type About, decoded, quoted } from './variable.ts';

function isAddress(text: string, protocols: readonly string[]): boolean {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  return parsed !== null && parsed.host !== '' && protocols.includes(parsed.protocol);
}

const withoutSlashes = (address: string) => address.replace(/\/+$/, '');

function listOf(text: string): string[] {
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}

/** An address with one of `protocols`; the value has no trailing slash. It is not quoted: it may hold a password. */
export function address(protocols: readonly string[], example: string, about: About) {
  const form = `an address like ${example}`;
  const read = (text: string) =>
    isAddress(text, protocols) ? { value: withoutSlashes(text) } : { problem: `must be ${form}` };
  return decoded<string>(form, read, about);
}

/** The address of a PostgreSQL; the value is the text. */
export function databaseAddress(about: About) {
  const read = (text: string) => {
    const reading = readDatabaseAddress(text);
    return 'problem' in reading ? reading : { value: text };
  };
  return decoded<string>('an address like postgres://user:password@host:5432/database', read, about);
}

/** Servers in addresses of nothing but an account, a host and a port: a password that is not encoded would be taken for the host. */
function isServer(text: string, protocols: readonly string[]): boolean {
  if (!isAddress(text, protocols)) return false;
  const { username, password, pathname, search, hash } = new URL(text);
  return pathname + search + hash === '' && isEncoded(username) && isEncoded(password);
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether servers have one account: the first one's, which the others may leave out. */
function haveOneAccount(servers: readonly string[]): boolean {
  const [first, ...others] = servers.map((server) => {
    const { username, password } = new URL(server);
    return `${username}:${password}`;
  });
  return others.every((account) => account === ':' || account === first);
}

/** The addresses of several servers, with one account. */
export function servers(protocols: readonly string[], example: string, about: About) {
  const form = `addresses like ${example}, with commas between them`;
  const rule = `must be ${form}, and special characters of the password encoded, as %40 for @`;
  return decoded<string[]>(
    form,
    (text) => {
      const value = text.split(',').map((part) => withoutSlashes(part.trim()));
      if (!value.every((one) => isServer(one, protocols))) return { problem: rule };
      if (!haveOneAccount(value))
        return { problem: 'must have one account for all servers, in the first of them' };
      return { value };
    },
    about,
  );
}

/** The origin of pages that a browser logs in to: its key and its cookie must not cross a network unencrypted. */
export function pagesOrigin(about: About) {
  const form = 'an address like https://assay.example.com, without a path; with http for this machine alone';
  return decoded<string>(
    form,
    (text) => {
      const url = isAddress(text, ['https:', 'http:']) ? new URL(text) : null;
      const isBare = url !== null && `${url.origin}/` === url.href;
      if (!isBare || (url.protocol === 'http:' && !isLoopback(url.hostname))) {
        return { problem: `must be ${form}, but is ${quoted(text)}` };
      }
      return { value: url.origin };
    },
    about,
  );
}

/** Browsers' spelling of an origin. There is none of `null`, which every sandboxed page has. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/;

/** Origins of pages, also of programs with schemes of their own (`app://obsidian.md`). */
export function pageOrigins(about: About) {
  const form = 'origins like https://app.example.com, without a path, with commas between them';
  return decoded<string[]>(
    form,
    (text) => {
      const entries = listOf(text);
      const bad = entries.find((entry) => originOf(entry) === null);
      return bad === undefined
        ? { value: entries.map((entry) => originOf(entry)!) }
        : { problem: `must be ${form}, but one is ${quoted(bad)}` };
    },
    about,
  );
}

/** Returns an origin as browsers send it: its host in lower case, without the port that its scheme implies. */
function originOf(text: string): string | null {
  const bare = withoutSlashes(text).toLowerCase();
  if (!ORIGIN.test(bare) || !URL.canParse(bare)) return null;
  const { protocol, origin } = new URL(bare);
  return protocol === 'https:' || protocol === 'http:' ? origin : bare;
}

/** The address of an HTTP proxy. */
export function proxy(about: About) {
  const form = 'an address like http://user:password@proxy:3128, with http or https and without a path';
  return decoded(
    form,
    (text) => {
      const value = parseProxyAddress(text);
      return value === null ? { problem: `must be ${form}` } : { value };
    },
    about,
  );
}

/** The hosts that are called without a proxy; the value is the text. */
export function proxyBypass(about: About) {
  const form = 'hosts, addresses or CIDRs, a port behind them or not, with commas between them';
  return decoded<string>(
    form,
    (text) => {
      const read = parseNoProxy(text);
      return 'bypass' in read
        ? { value: text }
        : { problem: `must be ${form}, but entry ${read.badEntry} is none of these` };
    },
    about,
  );
}

/** Hosts, addresses and CIDRs that evaluators may call beside the public internet. */
export function allowList(about: About) {
  const form = 'addresses, CIDRs or host names with commas between them';
  return decoded<string[]>(
    form,
    (text) => {
      const value = listOf(text);
      const read = parseAllowList(value);
      return 'allow' in read
        ? { value }
        : { problem: `must be ${form}, but one is ${quoted(read.badEntry)}` };
    },
    about,
  );
}

const SECRET_KEY_BYTES = 32;

/** Keys of 32 bytes. */
export function secretKeys(about: About) {
  const form = `${SECRET_KEY_BYTES} bytes as base64 or hex (openssl rand -base64 32), or more than one with commas between them`;
  return decoded<Buffer[]>(
    form,
    (text) => {
      const value = listOf(text).map((key) =>
        /^[0-9a-f]{64}$/i.test(key) ? Buffer.from(key, 'hex') : Buffer.from(key, 'base64'),
      );
      const isGood = value.every((key) => key.length === SECRET_KEY_BYTES);
      return isGood ? { value } : { problem: `must be ${form}` };
    },
    about,
  );
}
