import type { CacheAsk } from './bucket.ts';
import { answerKey, type KeyParts } from './key.ts';
import type { CacheWish } from './options.ts';

/** What a call asks of the cache: the key is of the same organization as the ask, whoever wires it. */
export function cacheAsk(wish: CacheWish, call: Omit<KeyParts, 'seed'>): CacheAsk {
  const { maxAgeMs, buckets, seed } = wish;
  return { organizationId: call.organizationId, key: answerKey({ ...call, seed }), buckets, maxAgeMs };
}
