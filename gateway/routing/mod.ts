/** Where calls go: from the text of `model` to the candidates of a call, and the attempts to get a response from them. */
export { type Attempt, type AttemptLoop, type CandidateResponse, createAttemptLoop } from './attempt-loop.ts';
export { createBreakerStates } from './breaker-states.ts';
export { type BreakerState, createCircuitBreaker } from './circuit-breaker.ts';
export { createPlanner, type RoutePlan, requireOneProvider } from './plan.ts';
export { parseRetries, type RetryHeaders } from './retry.ts';
