/** The response cache: what was answered once is given again, to the same organization, when it is asked to. */
export { cacheAsk } from './ask.ts';
export type { CacheAsk, StoredAnswer } from './bucket.ts';
export {
  type AnswerCache,
  type AnswerCacheOptions,
  type CacheCounts,
  createAnswerCache,
} from './cache.ts';
export { answerKey, type KeyParts } from './key.ts';
export type { Lead } from './leaders.ts';
export { type CacheHeaders, type CacheWish, readCacheWish } from './options.ts';
