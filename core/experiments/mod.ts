/** Experiments: the calls that targets make of items. Pure. */
export { type CalledTarget, type ItemContent, type ItemRequest, requestOf } from './request-of.ts';
