/** Limits that hold for all gateways of a database together: calls, their cost, and logs. */

export { type CounterUsage, readUsage } from './counter-usage.ts';
export { createLimiter, type LimiterOptions } from './limiter.ts';
export { createLogLimit, type LogLimit } from './log-limit.ts';
export type { Counter, Decision, Limiter, Policy, Reservation, Unit } from './types.ts';
