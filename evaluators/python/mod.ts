/**
 * Python evaluators, in a sandbox. The zygote is a Python process that has loaded every module and never sees an evaluation;
 * it forks children, which lock themselves down and wait. Each child takes one job over a private socket, answers, and ends.
 */
export { DEFAULT_LIMITS, MAX_BATCH } from './limits.ts';
export type { Sandbox } from './sandbox.ts';
export type { SlotHolder } from './slots.ts';
export { startSandbox } from './start.ts';
