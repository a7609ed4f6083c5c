import type { Decision } from './headers.ts';

/**
 * Returns one decision about a call under two policies: it passes when both let it pass, and Retry-After is the later one.
 * The rest describes the policy that refuses, of two the one that does so for longer; else the one with the least left,
 * which for different units is the smaller share of its quota.
 * @param own the decision by the policy of the key, which is described when there is as much left of both
 */
export function combineDecisions(own: Decision, named: Decision): Decision {
  const described = isTighter(named, own) ? named : own;
  return {
    ...described,
    isAdmitted: own.isAdmitted && named.isAdmitted,
    retryAfterMs: Math.max(own.retryAfterMs, named.retryAfterMs),
    isDegraded: own.isDegraded || named.isDegraded,
  };
}

function isTighter(one: Decision, other: Decision): boolean {
  if (one.isAdmitted !== other.isAdmitted) return !one.isAdmitted;
  if (!one.isAdmitted) return one.retryAfterMs > other.retryAfterMs;
  if (one.policy.unit === other.policy.unit) return one.remaining < other.remaining;
  return one.remaining / one.policy.quota < other.remaining / other.policy.quota;
}
