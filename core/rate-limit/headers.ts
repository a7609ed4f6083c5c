/**
 * Rate-limit response headers: our own `Service-RateLimit-*`, and the two fields of
 * draft-ietf-httpapi-ratelimit-headers (10 and 11), which generic clients read.
 */
import { NANO_PER_CENT, type Policy } from './policy.ts';

/** The limiter's decision about one call. Durations count from the decision. */
export type Decision = {
  isAdmitted: boolean;
  policy: Policy;
  /** Unused quota after this call, in the policy's unit (nano-dollars for cents); never negative. */
  remaining: number;
  /** Time until nothing that counts now counts any more. */
  resetMs: number;
  /** Time until one more call would be admitted; 0 if it would be now. */
  retryAfterMs: number;
  /** The counters were unavailable, and this gateway decided on its own, by its share of the quota. */
  isDegraded: boolean;
};

const secondsUp = (ms: number) => Math.ceil(ms / 1000);

/** Returns the response headers of a decision, in order, including those of a 429 if it refuses. */
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
  // The draft has no unit for money, and no unit means requests: for cents its fields would be wrong.
  if (policy.unit === 'request') {
    headers.push(
      ['RateLimit-Policy', `"default";q=${policy.quota};w=${policy.windowS}`],
      // Retry-After must not be earlier than `t`: for a refused call both say when one more would be admitted.
      ['RateLimit', `"default";r=${left};t=${isAdmitted ? secondsUp(decision.resetMs) : retryAfterS}`],
    );
  }
  if (isDegraded) headers.push(['Service-RateLimit-Degraded', 'true']);
  // The official clients would wait and retry silently; the caller should see a limit at once.
  if (!isAdmitted) headers.push(['Retry-After', String(retryAfterS)], ['x-should-retry', 'false']);
  return headers;
}

/** Rounds cents down to whole ones, so that the header never promises more than is left. */
function wholeUnits(amount: number, policy: Policy): number {
  return Math.max(0, Math.floor(policy.unit === 'cents' ? amount / NANO_PER_CENT : amount));
}
