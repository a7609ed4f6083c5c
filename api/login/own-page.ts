/** Checks that a call comes from a page that this API has served, at an address that it is meant to be at. */
import { AssayError } from '#core/contracts/errors.ts';
import { serverRequestOf } from '#platform/http-server/mod.ts';
import { isLoopback } from '#platform/outbound/mod.ts';

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Returns the origin that a browser has sent a call to: the one in PUBLIC_URL, or loopback. Any other Host may be a name that
 * somebody else points at this machine (DNS rebinding), and without TLS both the key and the cookie could be read on the way.
 * @param publicUrl the origin in PUBLIC_URL; null: it is not set
 * @throws AssayError address_not_allowed
 */
export function originOf(request: Request, publicUrl: string | null): string {
  const { peer } = serverRequestOf(request);
  const host = request.headers.get('host') ?? '';
  const at = (protocol: string) => {
    const text = `${protocol}//${host}`;
    return URL.canParse(text) ? new URL(text) : null;
  };
  const known = publicUrl === null ? null : new URL(publicUrl);
  if (known !== null && at(known.protocol)?.origin === publicUrl) return known.origin;
  const own = at(peer.isSecure ? 'https:' : 'http:');
  // A container's port, published on loopback, is called from an address of the network in between.
  const isPublished = known !== null && isLoopback(known.hostname);
  const isNear = peer.isSecure || isPublished || (peer.address !== null && isLoopback(peer.address));
  if (own !== null && isLoopback(own.hostname) && isNear) return own.origin;
  throw new AssayError('address_not_allowed', refusal(host, peer.address, publicUrl));
}

function refusal(host: string, address: string | null, publicUrl: string | null): string {
  const came = `this call came from ${address ?? 'an unknown address'} to ${JSON.stringify(host)}`;
  return publicUrl === null
    ? `Without TLS log-in works on the machine of the API only, at localhost or 127.0.0.1; elsewhere it needs TLS and the dashboard's address in PUBLIC_URL: ${came}`
    : `Log-in works at ${publicUrl} (PUBLIC_URL), and at localhost on the machine of the API: ${came}`;
}

/**
 * Checks that a call was made by a page of this origin. A page of another one can make the browser send the cookie, as those
 * of other ports of this host do, or a link that is followed; it can neither forge these headers nor add Service-Csrf.
 * @throws AssayError cross_site_request
 */
export function requireOwnPage({ method, headers }: Request, origin: string): void {
  const site = headers.get('sec-fetch-site');
  const from = headers.get('origin');
  const isForeign =
    (site === null ? from === null : site !== 'same-origin') || (from !== null && from !== origin);
  if (isForeign) {
    const said = from === null ? `Sec-Fetch-Site: ${site ?? '(none)'}` : `Origin: ${from}`;
    const message = `A log-in is taken from pages of ${origin} only, but the browser says ${said}; programs send an API key as Authorization: Bearer <key>`;
    throw new AssayError('cross_site_request', message);
  }
  if (!READING.has(method) && headers.get('service-csrf') !== '1') {
    throw new AssayError(
      'cross_site_request',
      `${method} with a log-in needs the header Service-Csrf: 1, which pages of other sites cannot send`,
    );
  }
}
