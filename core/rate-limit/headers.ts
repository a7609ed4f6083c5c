/**
 * What a response says of the policy it was under: our own `Service-RateLimit-*`, and the two fields of
 * draft-ietf-httpapi-ratelimit-headers (10 and 11), which generic clients read.
 */
import { NANO_PER_CENT, type Policy } from './policy.ts';

/** What a limiter says of one call. Times are counted from the decision. */
export type Decision = {
  isAdmitted: boolean;
  policy: Policy;
  /** Left of the quota after this call, in the policy's unit (nano-dollars for cents); never negative. */
  remaining: number;
  /** Until nothing that is counted now counts any more. */
  resetMs: number;
  /** Until one more would pass; 0 when one would now. */
  retryAfterMs: number;
  /** The store of the counters was away, and this process decided by its own share. */
  isDegraded: boolean;
};

const secondsUp = (ms: number) => Math.ceil(ms / 1000);

/** The response headers of a decision, in order, with those of a 429 when it refuses. */
export function rateLimitHeaders(decision: Decision): [name: string, value: string][] {
  const { policy, isAdmitted, isDegraded } = decision;
  const left = wholeUnits(decision.remaining, policy);
  const headers: [string, string][] = [
    ['Service-RateLimit-Limit', policy.text.slice(0, policy.text.indexOf(';'))],
    ['Service-RateLimit-Policy', policy.text],
    ['Service-RateLimit-Remaining', String(left)],
    ['Service-RateLimit-Reset', String(secondsUp(decision.resetMs))],
  ];
  const retryAfterS = Math.max(1, secondsUp(decision.retryAfterMs));
  // The draft has no unit for money, and without a unit it means requests: of cents its fields would tell a lie.
  if (policy.unit === 'request') {
    headers.push(
      ['RateLimit-Policy', `"default";q=${policy.quota};w=${policy.windowS}`],
      // Retry-After must not come before `t`: for a refused call both say when one more would pass.
      ['RateLimit', `"default";r=${left};t=${isAdmitted ? secondsUp(decision.resetMs) : retryAfterS}`],
    );
  }
  if (isDegraded) headers.push(['Service-RateLimit-Degraded', 'true']);
  // The official clients would wait and try again by themselves; a limit is for the caller to see at once.
  if (!isAdmitted) headers.push(['Retry-After', String(retryAfterS)], ['x-should-retry', 'false']);
  return headers;
}

/** Of cents only whole ones, so that what is shown is there. */
function wholeUnits(amount: number, policy: Policy): number {
  return Math.max(0, Math.floor(policy.unit === 'cents' ? amount / NANO_PER_CENT : amount));
}
