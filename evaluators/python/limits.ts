/** How much one evaluation may take. */

/** The sandbox enforces what it is given; MAX_CODE_LIMITS of core/contracts/evaluator.ts bounds it when code is stored. */
export type PythonLimits = {
  /** From the moment the code is sent until the result is back. */
  wallMs: number;
  /** Of CPU, in whole seconds. */
  cpuSeconds: number;
  /** Beyond what Python itself takes. */
  memoryMb: number;
};

export const DEFAULT_LIMITS: Readonly<PythonLimits> = { wallMs: 2_000, cpuSeconds: 1, memoryMb: 256 };

/** Of the evaluator's code, as UTF-8. */
export const MAX_SOURCE_BYTES = 64 * 1024;
/** Of input and output together, as UTF-8. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Records in one call of `evaluateMany`. */
export const MAX_BATCH = 200;
