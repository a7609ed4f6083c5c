/** Counts tokens for answers without usage. Finding the texts is pure; counting them has a thread of its own. */
export { countableAnswer, isEmbeddings } from './completion.ts';
export { createTokenCounter, type TokenCounter } from './counter.ts';
export { countableConversation, countablePlain } from './prompt.ts';
export type { Countable } from './text-collector.ts';
