/** The token of an `Authorization: Bearer …` value, or null. The scheme's case does not matter. */
export function bearerToken(header: string | null | undefined): string | null {
  if (header === null || header === undefined || header.length < 8) return null;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  const token = header.slice(7).trim();
  return token === '' ? null : token;
}
