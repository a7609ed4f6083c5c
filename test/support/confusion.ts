/** Verdicts held against people's, as tests write them. */
import type { Confusion } from '#core/statistics/mod.ts';

/** What statistics are held against, where no criterion is tied to the evaluator. */
export const FEEDBACK = { kind: 'feedback', note: null } as const;

/** Returns the counts of a table, row by row: those that the evaluator passes first. */
export const confusion = (
  truePositive: number,
  falsePositive: number,
  falseNegative: number,
  trueNegative: number,
): Confusion => ({ truePositive, falsePositive, falseNegative, trueNegative });
