/** Experiments: the calls that targets make of items, and what they may cost. Pure. */
export { costOfBody, estimateCost, mostCompletionTokens, type Prices } from './estimate.ts';
export { type CalledTarget, type ItemContent, requestOf } from './request-of.ts';
