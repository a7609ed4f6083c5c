/** Experiments: the calls that targets make of items. Pure. */
export { type CalledTarget, type ItemContent, requestOf } from './request-of.ts';
