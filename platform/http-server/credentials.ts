/** Credentials in headers. A request may carry each of these headers once. */
import { AssayError } from '#core/contracts/errors.ts';

/** Header names in lower case. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'service-auth'];

/**
 * Returns the value of a credential header.
 * @param before the value of an earlier line of this header; null: there is none
 * @throws AssayError invalid_header for a second line: a proxy in front and this server could each use another one
 */
export function onlyCredential(name: string, before: string | null, value: string): string {
  if (before === null) return value;
  throw new AssayError(
    'invalid_header',
    `The header ${name} is given more than once; a request may carry it once`,
  );
}

/**
 * Checks that no credential header is repeated, for roles that do not read headers line by line themselves.
 * @param rawHeaders names and values in turn, unchanged
 * @throws AssayError invalid_header
 */
export function requireSingleCredentials(rawHeaders: readonly string[]): void {
  const found = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const known = CREDENTIAL_HEADERS.find((header) => header === name.toLowerCase());
    if (known !== undefined)
      found.set(known, onlyCredential(name, found.get(known) ?? null, rawHeaders[at + 1]!));
  }
}

/** Returns the token of an `Authorization: Bearer …` value, or null. The scheme's case does not matter. */
export function bearerToken(header: string | null | undefined): string | null {
  if (header === null || header === undefined || header.length < 8) return null;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  const token = header.slice(7).trim();
  return token === '' ? null : token;
}
