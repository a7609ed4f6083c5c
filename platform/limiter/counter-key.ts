import { hash } from 'node:crypto';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Counter } from './types.ts';

/** 128 bits: enough that two counters of an organization never collide in practice. */
const KEY_BYTES = 16;
/** Length of a value as operators see it. */
const DISPLAYED_CHARACTERS = 256;

/** Returns the key of a counter within its organization, of fixed size however long the counter's value is. */
export function counterKey({ apiKeyId, unit, segment, value, isOfKey }: Counter): Buffer {
  // The value comes last, and no part before it contains a space: no two counters hash the same text.
  return hash(
    'sha256',
    `${apiKeyId ?? '-'}${isOfKey ? '!' : ''} ${unit} ${segment} ${value}`,
    'buffer',
  ).subarray(0, KEY_BYTES);
}

/** Returns a name, unique in the process, of a counter or of the overflow counter that stands in for others. */
export function counterName(organizationId: string, key: Buffer): string {
  return `${organizationId} ${key.toString('hex')}`;
}

/** Before the segment of a counter of the key's own policy; no segment has a colon. */
export const OF_KEY = 'key:';

/** The readable part of a counter, stored beside its key for operators. */
type Shown = { segment: string; value: string };

/** Returns a value as it is stored: shortened and storable. */
export function shownValue(value: string): string {
  return storableText(value.slice(0, DISPLAYED_CHARACTERS));
}

/** Returns segment and value as they are stored, a counter of the key's own policy marked. */
export function shownOf({ segment, value, isOfKey }: Counter): Shown {
  const shown = shownValue(value);
  if (!isOfKey) return { segment, value: shown };
  // Without a segment the mark is the value: the store bounds the number of counters with one.
  return segment === '' ? { segment, value: OF_KEY } : { segment: OF_KEY + segment, value: shown };
}

/** Reads what `shownOf` has written. */
export function readShown({ segment, value }: Shown): Shown & { isOfKey: boolean } {
  if (segment === '') return { segment, value: '', isOfKey: value === OF_KEY };
  const isOfKey = segment.startsWith(OF_KEY);
  return { segment: isOfKey ? segment.slice(OF_KEY.length) : segment, value, isOfKey };
}
