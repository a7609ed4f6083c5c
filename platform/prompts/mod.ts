/** Stored prompts, as gateways read them. */
export { createPromptDirectory, type PromptDirectory } from './directory.ts';
export type { PromptReference } from './store.ts';
