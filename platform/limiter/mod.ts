/**
 * The limiter: all gateways of a database together admit at most the quota in any interval of a policy's window.
 *
 * Each counter is one row in Postgres with a sliding window of sub-buckets per policy (core/rate-limit/window.ts explains
 * it). To decide most calls without a round trip, a gateway prefetches from a counter that is asked often: credits for
 * calls (a lease), nano-dollars for costs (a hold). Both are charged when granted and expire with their sub-bucket, so
 * whatever is spent was already counted, in the sub-bucket in which it is spent. A call under a policy in money reserves
 * its estimate; the settlement after its end replaces the estimate by the cost. While Postgres is unavailable the
 * limiter is degraded: each gateway decides by its share of the quota, and reports what it admitted afterwards.
 *
 * Path of a decision: limiter.ts → account.ts (this gateway's state of a counter) → admission.ts, with account-leases.ts
 * and lease.ts, or reservations.ts, with account-holds.ts and hold.ts → round-trips.ts → availability.ts →
 * counter-store.ts → decide.ts. A call under two policies begins in both.ts. After the call: reservation-decisions.ts → settlements.ts with dirty-holds.ts. In the
 * background: maintenance.ts with paced-works.ts. To look without using anything: peek.ts.
 */
export { readUsage } from './counter-usage.ts';
export { createLimiter } from './limiter.ts';
export { createLogLimit, type LogLimit } from './log-limit.ts';
export type { Counter, Decision, Limit, Limiter, Policy, Reservation } from './types.ts';
