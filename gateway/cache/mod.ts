/** The response cache: what was answered once is given again, to the same organization, when it is asked to. */
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
export {
  createCacheLookUp,
  type LookUpCache,
  storedAsResponse,
  UNCACHED,
} from './stored-response.ts';
