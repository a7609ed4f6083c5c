import type { CacheQuery } from './bucket.ts';
import { type KeyParts, responseKey } from './key.ts';
import type { CacheOptions } from './options.ts';

/** What a call asks of the cache: the key is of the same organization as the ask, whoever wires it. */
export function cacheQuery(wish: CacheOptions, call: Omit<KeyParts, 'seed'>): CacheQuery {
  const { maxAgeMs, buckets, seed } = wish;
  return { organizationId: call.organizationId, key: responseKey({ ...call, seed }), buckets, maxAgeMs };
}
