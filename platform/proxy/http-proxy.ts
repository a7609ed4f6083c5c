import { parseNoProxy } from './no-proxy.ts';

/** A proxy that opens tunnels by CONNECT. */
export type HttpProxy = {
  /** True when the connection to the proxy itself is TLS. */
  isTls: boolean;
  /** An IPv6 address without its brackets. */
  host: string;
  port: number;
  /** The value of `Proxy-Authorization`: a secret. */
  authorization: string | null;
};

/** The proxies by scheme, and the addresses without one. Plain data, so that it can be passed to threads. */
export type ProxySettings = {
  https: HttpProxy | null;
  http: HttpProxy | null;
  /** The value of `NO_PROXY`. */
  noProxy: string;
};

export const NO_PROXIES: ProxySettings = { https: null, http: null, noProxy: '' };

/** Returns the proxy for an address, such as a URL; null: a direct connection. */
export type ProxyChoice = (address: { protocol: string; hostname: string; port: string }) => HttpProxy | null;

const DEFAULT_PORTS = { http: 80, https: 443 };
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Parses the address of a proxy: http or https, with or without user name and password. Without a scheme it is http, as for
 * curl and Go. Returns null for an invalid address.
 */
export function parseProxyAddress(text: string): HttpProxy | null {
  const whole = SCHEME.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole)) return null;
  const url = new URL(whole);
  const isTls = url.protocol === 'https:';
  if ((!isTls && url.protocol !== 'http:') || `${url.pathname}${url.search}${url.hash}` !== '/') return null;
  const credentials = credentialsOf(url);
  if (credentials === null) return null;
  return {
    isTls,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isTls ? DEFAULT_PORTS.https : DEFAULT_PORTS.http),
    authorization: credentials === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/** Returns the credentials of a proxy: empty without any; null when a `%` in them is not an escape. */
function credentialsOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return '';
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return null;
  }
}

/** Creates the function that chooses the proxy for an address. */
export function createProxyChoice({ https, http, noProxy }: ProxySettings): ProxyChoice {
  const read = parseNoProxy(noProxy);
  if ('badEntry' in read) throw new Error('The configuration lets no such entry through');
  return ({ protocol, hostname, port }) => {
    const isTls = protocol === 'https:';
    const proxy = isTls ? https : http;
    const defaultPort = isTls ? DEFAULT_PORTS.https : DEFAULT_PORTS.http;
    return proxy === null || read.bypass(hostname, Number(port) || defaultPort) ? null : proxy;
  };
}
