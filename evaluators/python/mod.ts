/**
 * Python evaluators, in a sandbox. The zygote is a Python process that has loaded every module and never sees an evaluation;
 * it forks children, which lock themselves down and wait. Each child takes one job over a private socket, answers, and ends.
 */
export {
  DEFAULT_LIMITS,
  MAX_BATCH,
  MAX_SOURCE_BYTES,
  MAX_TEXT_BYTES,
  type PythonLimits,
} from './limits.ts';
export { IMPORTABLE_MODULES } from './modules.ts';
export type { CompileResult, PythonEvaluation, Sandbox, SandboxState } from './sandbox.ts';
export type { SlotHolder } from './slots.ts';
export { type SandboxOptions, startSandbox } from './start.ts';
export { SANDBOX_TIERS, type SandboxTier } from './zygote.ts';
