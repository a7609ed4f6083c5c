/** Where calls go: from the text of `model` to the routes that are tried, and how they are tried. Nothing here does I/O. */
export {
  type CallHearing,
  createAttempts,
  type RoutedCall,
  type SendRouted,
  type TriedRoute,
  type TryHearing,
} from './attempts.ts';
export { type BreakerState, createBreaker } from './breaker.ts';
export { createPlanner, type Plan, requireOneProvider } from './plan.ts';
export { type RetryHeaders, readRetries } from './retry.ts';
