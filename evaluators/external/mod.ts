/** EXTERNAL evaluators: services and libraries that score, each behind an adapter of its own. */
export type { ExternalItem } from './adapter.ts';
export { batchSizeOf, type ExternalOptions, runExternalMany } from './run.ts';
export { type RunScorer, runScorer, type ScorerInput } from './run-scorer.ts';
