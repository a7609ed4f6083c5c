import { hash } from 'node:crypto';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Counter } from './types.ts';

/** 128 bits: enough that two counters of an organization never collide in practice. */
const KEY_BYTES = 16;
/** Length of a value as operators see it. */
const DISPLAYED_CHARACTERS = 256;

/** Returns the key of a counter within its organization, of fixed size however long the counter's value is. */
export function counterKey({ apiKeyId, unit, segment, value }: Counter): Buffer {
  // The value comes last, and no part before it contains a space: no two counters hash the same text.
  return hash('sha256', `${apiKeyId ?? '-'} ${unit} ${segment} ${value}`, 'buffer').subarray(0, KEY_BYTES);
}

/** Returns a name, unique in the process, of a counter or of the overflow counter that stands in for others. */
export function counterName(organizationId: string, key: Buffer): string {
  return `${organizationId} ${key.toString('hex')}`;
}

/** Returns a value as operators see it: shortened, and storable. */
export function displayValue(value: string): string {
  return storableText(value.slice(0, DISPLAYED_CHARACTERS));
}
