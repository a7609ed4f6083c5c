import { hash } from 'node:crypto';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Counter } from './types.ts';

/** 128 bits: that two counters of an organization meet is not to be expected. */
const KEY_BYTES = 16;
/** Of a value, to be shown to operators. */
const DISPLAYED_CHARACTERS = 256;

/** What tells a counter from the others of its organization, however long its value is. */
export function counterKey({ apiKeyId, unit, segment, value }: Counter): Buffer {
  // The value comes last, and nothing before it holds a space: no two counters are written alike.
  return hash('sha256', `${apiKeyId ?? '-'} ${unit} ${segment} ${value}`, 'buffer').subarray(0, KEY_BYTES);
}

/** Tells a counter, or the one that takes those for whom there is no room, from all others of this process. */
export function counterName(organizationId: string, key: Buffer): string {
  return `${organizationId} ${key.toString('hex')}`;
}

/** A value as operators see it. */
export function displayValue(value: string): string {
  return storableText(value.slice(0, DISPLAYED_CHARACTERS));
}
