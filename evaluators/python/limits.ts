/** Limits of evaluations. */

/** Limits of one evaluation. */
export type PythonLimits = {
  /** Milliseconds from sending the code until its answer. */
  wallMs: number;
  /** Whole seconds of CPU time. */
  cpuSeconds: number;
  /** MB beyond the memory of Python itself. */
  memoryMb: number;
};

/** The limits of an evaluator that names none. The upper bounds are `MAX_CODE_LIMITS` in core/contracts/evaluator.ts. */

export const DEFAULT_LIMITS: Readonly<PythonLimits> = { wallMs: 2_000, cpuSeconds: 1, memoryMb: 256 };
/** UTF-8 bytes of an evaluator's code. */
export const MAX_SOURCE_BYTES = 64 * 1024;
/** UTF-8 bytes of input and output together. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** UTF-8 bytes of the whole record, for code that takes it: two bodies of the largest size that is evaluated, and inputs. */
export const MAX_RECORD_BYTES = 10 * 1024 * 1024;
/** Records in one call of `evaluateMany`. */
export const MAX_BATCH = 200;
