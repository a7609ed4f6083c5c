import { createHash } from 'node:crypto';
import { encodeTime } from 'ulid';
import { newRequestId } from '../process/ids.ts';

/** Crockford's alphabet, as ULIDs have it. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const OTHER_DIGITS = 16;

/** Returns a new id of a delivery, which sorts by time: `msg_` and a ULID. */
export function newDeliveryId(nowMs: number): string {
  return `msg_${newRequestId(nowMs)}`;
}

/**
 * Returns the id of the delivery of a happening to a webhook: always the same, so that a change that is applied twice, for
 * example after a restore of the database, makes one delivery.
 * @param atMs the time of the happening, in milliseconds since the epoch
 */
export function deliveryIdOf(atMs: number, webhookId: string, happening: string): string {
  const digest = createHash('sha256').update(`${webhookId}/${happening}`).digest();
  const digits = Array.from(digest.subarray(0, OTHER_DIGITS), (byte) => ALPHABET[byte % ALPHABET.length]);
  return `msg_${encodeTime(atMs, TIME_DIGITS)}${digits.join('')}`;
}
