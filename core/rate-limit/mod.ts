/** Rate limits, the pure part: the grammar of policies, the sliding window, and the response headers. */
export { combineDecisions } from './combine.ts';
export { type Decision, rateLimitHeaders } from './headers.ts';
export { LOG_WINDOW_S, logPolicy, NANO_PER_CENT, type Policy, parsePolicy, type Unit } from './policy.ts';
export { prefetchSize } from './prefetch-size.ts';
export {
  charge,
  correct,
  createWindow,
  remaining,
  resetAfterMs,
  retryAfterMs,
  type Window,
  type WindowShape,
  windowShape,
} from './window.ts';
