import { hash, randomInt } from 'node:crypto';
import type { AllowLists, Scope } from '#core/keys/mod.ts';
import type { ProviderKeys } from '../provider-keys/mod.ts';

export const TIERS = ['free', 'pro', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** Requests of an organization that are logged in any 5 seconds, by tier; null: no limit unless one is set. */
export const LOGS_PER_5S: Readonly<Record<Tier, number | null>> = { free: 834, pro: 8_334, enterprise: null };

/** A valid key as processes cache it. */
export type ApiKey = {
  keyId: string;
  /** The key whose rate-limit counters its calls use: itself, or the first of those that were rotated into it. */
  countedAs: string;
  organizationId: string;
  scopes: ReadonlySet<Scope>;
  tier: Tier;
  /** The organization's own logging limit, else its tier's; null: none. */
  logsPer5s: number | null;
  /** Bound on all of its calls, beside the policies that they name; null: there is none. */
  rateLimitPolicy: string | null;
  /** Milliseconds since the epoch from which on it is refused; null: never. */
  expiresAtMs: number | null;
  /** The models, providers and paths that its calls are confined to; null, as for most keys: all. */
  allowed: AllowLists | null;
  /** The organization's own provider keys, which replace the operator's. Empty in a process that calls no provider. */
  providerKeys: ProviderKeys;
};

const PREFIX = 'sk-assay-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is just above 2^256. */
const RANDOM_LENGTH = 43;

/** Characters of a key that are shown in lists: enough to tell keys apart, too few to guess the rest. */
export const DISPLAY_PREFIX_LENGTH = 12;

/** Bounds on the length of a key, including keys that the operator chose. Others are refused without a look-up. */
export const KEY_LENGTH = { min: 20, max: 128 } as const;

/** Generates a key: 256 bits from the system's source of randomness, each digit equally likely. */
export function generateApiKey(): string {
  let key = PREFIX;
  for (let index = 0; index < RANDOM_LENGTH; index += 1) key += ALPHABET[randomInt(ALPHABET.length)];
  return key;
}

/** Returns the SHA-256 under which a key is stored. Keys are random, so they need no salt and no slow hash. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
