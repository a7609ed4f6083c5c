/** The response cache: gives an organization the stored response to an identical call, when the call asks for it. */
export type { CacheQuery, StoredResponse } from './bucket.ts';
export {
  type CacheCounts,
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
} from './cache.ts';
export { cacheQuery, type KeyParts, responseKey } from './key.ts';
export type { Turn } from './leaders.ts';
export { type CacheHeaders, type CacheOptions, parseCacheOptions } from './options.ts';
