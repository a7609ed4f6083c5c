/** Experiments: the calls that targets make of items, and what they may cost. Pure. */
export { costOfBody, estimateCost, longestTokens, mostCompletionTokens, type Prices } from './estimate.ts';
export { estimateJudgment, type JudgedSize, type Judges, type JudgmentCost } from './estimate-judgment.ts';
export { type CalledTarget, type ItemContent, requestOf } from './request-of.ts';
