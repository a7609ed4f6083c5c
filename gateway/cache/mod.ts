/** The response cache: serves an organization the stored response to an identical call, when the call asks for it. */
export type { CacheQuery, StoredResponse } from './bucket.ts';
export { createResponseCache, LARGEST_STORED_BYTES, type ResponseCache } from './cache.ts';
export { watchErasures } from './erasures.ts';
export { answerHeaders, cacheQuery } from './key.ts';
export { type CacheHeaders, type CacheOptions, parseCacheOptions } from './options.ts';
