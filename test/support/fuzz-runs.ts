/** How often a property is tried, and from which seed: printed, so that what failed once can be made to fail again. */
import { randomInt } from 'node:crypto';
import type { Test } from 'tap';

/** Multiplies the number of runs. */
const TIMES = Number(process.env.FUZZ_TIMES ?? 1);
const SEED = process.env.FUZZ_SEED === undefined ? null : Number(process.env.FUZZ_SEED);

/** Parameters for `fc.assert`: `numRuns`, or more where FUZZ_TIMES says so, from FUZZ_SEED or any seed. */
export function runs(t: Test, numRuns: number): { numRuns: number; seed: number } {
  const parameters = { numRuns: Math.ceil(numRuns * TIMES), seed: SEED ?? randomInt(2 ** 31) };
  t.comment(`FUZZ_SEED=${parameters.seed}, ${parameters.numRuns} runs`);
  return parameters;
}
