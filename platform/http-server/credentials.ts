/** The headers that carry a credential, each of which a request may have once. */
import { AssayError } from '#core/contracts/errors.ts';

/** In lower case. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'service-auth'];

/**
 * Returns the value of a credential header that stood in no line before.
 * @throws AssayError invalid_header when it did: a proxy in front and the server here could each take another one
 */
export function onlyCredential(name: string, before: string | null, value: string): string {
  if (before === null) return value;
  throw new AssayError(
    'invalid_header',
    `The header ${name} is given more than once; a request may carry it once`,
  );
}

/**
 * Checks that no credential is given twice, in headers that nothing else of this process reads one by one.
 * @param rawHeaders names and values in turn, as received
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

/** The token of an `Authorization: Bearer …` value, or null. The scheme's case does not matter. */
export function bearerToken(header: string | null | undefined): string | null {
  if (header === null || header === undefined || header.length < 8) return null;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  const token = header.slice(7).trim();
  return token === '' ? null : token;
}
