/** Where calls go: from the text of `model` to the routes that are tried, and how they are tried. Nothing here does I/O. */
export {
  type Attempt,
  type CallHearing,
  createAttempts,
  type RoutedCall,
  type SendRouted,
  type TryHearing,
} from './attempt-loop.ts';
export { type BreakerState, createBreaker } from './circuit-breaker.ts';
export { createPlanner, type Plan, requireOneProvider } from './plan.ts';
export { parseRetries, type RetryHeaders } from './retry.ts';
