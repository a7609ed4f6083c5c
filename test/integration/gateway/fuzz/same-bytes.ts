import { strictEqual } from 'node:assert';

/** Fails where two are not the same, and shows both as text with a character for each byte. */
export function sameBytes(given: Uint8Array, wanted: Uint8Array, what?: string): void {
  const [found, expected] = [Buffer.from(given), Buffer.from(wanted)];
  if (!found.equals(expected)) strictEqual(found.toString('latin1'), expected.toString('latin1'), what);
}
