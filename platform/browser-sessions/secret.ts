import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
/** 256 bits as base64url. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** A log-in ends after this time, however much it is used. */
export const LIFETIME_MS = 7 * 86_400_000;
/** A log-in that nobody has used for this time has ended. */
export const IDLE_MS = 12 * 3_600_000;

/** Generates the secret of a cookie or of a link, from the system's source of randomness. */
export function generateSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns the SHA-256 under which a secret is stored; null: the text cannot be one. */
export function hashSecret(secret: string): Buffer | null {
  return SECRET.test(secret) ? hash('sha256', secret, 'buffer') : null;
}
