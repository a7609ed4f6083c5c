/** The cookie of a log-in. */
import { AssayError } from '#core/contracts/errors.ts';
import { LIFETIME_MS } from '#platform/browser-sessions/mod.ts';

/**
 * The names of the cookie. With the prefix a browser takes it from this host alone, over TLS alone; but Safari keeps no such
 * cookie of an http address, loopback included. Elsewhere on loopback the prefix would not help: browsers tell no ports apart.
 */
const NAMES = { https: '__Host-assay', http: 'assay' } as const;

function nameFor(origin: string): string {
  return origin.startsWith('https:') ? NAMES.https : NAMES.http;
}

/** Returns the values of cookies by name, in the order of the headers. */
function* cookiesOf(rawHeaders: readonly string[]): Generator<[name: string, value: string]> {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== 'cookie') continue;
    for (const pair of rawHeaders[at + 1]!.split(';')) {
      const equals = pair.indexOf('=');
      if (equals > 0) yield [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
    }
  }
}

/** Returns whether a call carries a cookie of a log-in, of any origin. */
export function hasLoginCookie(rawHeaders: readonly string[]): boolean {
  const names: readonly string[] = Object.values(NAMES);
  return [...cookiesOf(rawHeaders)].some(([name]) => names.includes(name));
}

/**
 * Returns the secret in the cookie of an origin; null: there is none.
 * @throws AssayError invalid_header for two of them: a page of another port may have added one
 */
export function readLoginCookie(rawHeaders: readonly string[], origin: string): string | null {
  const values = secretsOf(rawHeaders, origin);
  if (values.length > 1) {
    const message = `The cookie ${nameFor(origin)} is given more than once: delete the cookies of ${new URL(origin).hostname} in this browser`;
    throw new AssayError('invalid_header', message);
  }
  return values[0] ?? null;
}

/** Returns the secret that a new log-in replaces in a browser; null: there is none, or it is not clear which one it is. */
export function replacedCookie(rawHeaders: readonly string[], origin: string): string | null {
  const values = secretsOf(rawHeaders, origin);
  return values.length === 1 ? values[0]! : null;
}

function secretsOf(rawHeaders: readonly string[], origin: string): string[] {
  const wanted = nameFor(origin);
  return [...cookiesOf(rawHeaders)].filter(([name]) => name === wanted).map(([, value]) => value);
}

/** Returns the header that sets the cookie; null deletes it. */
export function loginCookie(origin: string, secret: string | null): string {
  const parts = [`${nameFor(origin)}=${secret ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (origin.startsWith('https:')) parts.push('Secure');
  parts.push(`Max-Age=${secret === null ? 0 : LIFETIME_MS / 1_000}`);
  return parts.join('; ');
}
