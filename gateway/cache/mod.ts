/** The response cache: what was answered once is given again, to the same organization, when it is asked to. */
export { cacheQuery } from './ask.ts';
export type { CacheQuery, StoredResponse } from './bucket.ts';
export {
  type AnswerCacheOptions,
  type CacheCounts,
  createResponseCache,
  type ResponseCache,
} from './cache.ts';
export { type KeyParts, responseKey } from './key.ts';
export type { Turn } from './leaders.ts';
export { type CacheHeaders, type CacheOptions, parseCacheOptions } from './options.ts';
