/**
 * Python evaluators, in a sandbox. A zygote, a Python with everything loaded that never sees what is evaluated, keeps
 * children waiting that have locked themselves in; each takes one job over a private socket, answers, and ends.
 */
export {
  DEFAULT_LIMITS,
  MAX_BATCH,
  MAX_SOURCE_BYTES,
  MAX_TEXT_BYTES,
  type PythonLimits,
} from './limits.ts';
export { IMPORTABLE_MODULES } from './modules.ts';
export {
  type CompileResult,
  type PythonEvaluation,
  type Sandbox,
  type SandboxOptions,
  type SandboxState,
  startSandbox,
} from './sandbox.ts';
export type { Turn } from './turns.ts';
export { TIERS, type Tier } from './zygote.ts';
