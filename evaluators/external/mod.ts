/** EXTERNAL evaluators: scoring services, and scorers that run in process, each behind an adapter. */
export type { ExternalItem } from './adapter.ts';
export { batchSizeOf, runExternalMany } from './run.ts';
