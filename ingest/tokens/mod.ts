/** Tokens counted here, where a provider gave none. What is to be counted is found purely; counting has its own thread. */
export { countableAnswer, isEmbeddings } from './completion.ts';
export { createTokenCounter, type TokenCounter } from './counter.ts';
export { countableConversation, countablePlain } from './prompt.ts';
export type { Countable } from './text-collector.ts';
