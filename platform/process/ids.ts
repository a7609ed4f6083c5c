import { randomFillSync } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Crockford base32 without I, L, O, U; the first digit is at most 7, for 48 bits of time. */
const ULID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i;

/** Randomness in advance: ulid's own source asks the system for each of 16 digits, 25 µs an id; this takes 0.6 µs. */
const pool = new Uint8Array(4_096);
let poolPosition = pool.length;

function nextFraction(): number {
  if (poolPosition === pool.length) {
    randomFillSync(pool);
    poolPosition = 0;
  }
  return pool[poolPosition++]! / 256;
}

/** A new request id: a ULID, so ids sort by the time they were made (`nowMs`, milliseconds since the epoch). */
export function newRequestId(nowMs: number = Date.now()): string {
  return ulid(nowMs, nextFraction);
}

/** Whether a caller may choose `text` as its request's id: a UUID or a ULID. */
export function isRequestId(text: string): boolean {
  return ULID.test(text) || UUID.test(text);
}

/** The milliseconds since the epoch that a ULID was made at; null when `id` is not a ULID. */
export function ulidTimeMs(id: string): number | null {
  return ULID.test(id) ? decodeTime(id.toUpperCase()) : null;
}
