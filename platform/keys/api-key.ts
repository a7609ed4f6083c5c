import { hash, randomInt } from 'node:crypto';
import type { ProviderKeys } from '../provider-keys/mod.ts';

export const SCOPES = ['gateway', 'read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

export const TIERS = ['free', 'pro', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** How many requests of an organization are logged in any 5 seconds; null: no limit but what is set for it. */
export const LOGS_PER_5S: Readonly<Record<Tier, number | null>> = { free: 834, pro: 8_334, enterprise: null };

/** What a process knows of a valid key. */
export type ApiKey = {
  keyId: string;
  organizationId: string;
  scopes: ReadonlySet<Scope>;
  tier: Tier;
  /** The organization's own logging limit, else its tier's; null: none. */
  logsPer5s: number | null;
  /** For calls that name no policy of their own; null: none. */
  rateLimitPolicy: string | null;
  /** What its organization has stored: in place of the operator's keys. Empty in a process that calls no provider. */
  providerKeys: ProviderKeys;
};

const PREFIX = 'sk-assay-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is just above 2^256. */
const RANDOM_LENGTH = 43;

/** How much of a key may be shown again: enough to tell keys apart, too little to guess the rest. */
export const DISPLAY_PREFIX_LENGTH = 12;

/** No key is shorter or longer, not even one that the operator chose: nothing else is worth a look-up. */
export const KEY_LENGTH = { min: 20, max: 128 } as const;

/** A new key: 256 bits from the system's source of randomness, each digit equally likely. */
export function generateApiKey(): string {
  let key = PREFIX;
  for (let index = 0; index < RANDOM_LENGTH; index += 1) key += ALPHABET[randomInt(ALPHABET.length)];
  return key;
}

/** The SHA-256 that stands for a key wherever it is kept. Keys are random, so they need no salt and no slow hash. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
