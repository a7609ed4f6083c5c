/** Decisions: by a counter's last snapshot, or, while degraded, by this gateway's share of the quota. */
import { charge, createWindow, remaining, resetAfterMs, retryAfterMs } from '#core/rate-limit/mod.ts';
import { type Account, sharedBalance } from './account.ts';
import type { Decision, Policy } from './types.ts';

/**
 * Returns a decision with the amounts and times of the last snapshot.
 * @param localBalance what this gateway still holds of the counter
 */
export function decide(account: Account, isAdmitted: boolean, localBalance: number, now: number): Decision {
  const { policy, lastSnapshot } = account;
  const left = Math.max(0, sharedBalance(account) + localBalance);
  return {
    isAdmitted,
    policy,
    remaining: left,
    resetMs: Math.max(0, Math.ceil(lastSnapshot.resetAt - now)),
    retryAfterMs: left > 0 ? 0 : Math.max(0, Math.ceil(lastSnapshot.retryAt - now)),
    isDegraded: false,
  };
}

/** Returns the share of the quota that a gateway may admit while degraded: at least 1. */
function degradedQuota(policy: Policy, gateways: number): number {
  return Math.max(1, Math.floor(policy.quota / gateways));
}

/** Admits and counts `amount` by this gateway's share of the quota, or refuses; an `amount` of 0 only peeks. */
export function decideDegraded(account: Account, gateways: number, now: number, amount: number): Decision {
  const { policy } = account;
  const quota = degradedQuota(policy, gateways);
  account.localWindow ??= createWindow(account.shape);
  const isAdmitted = remaining(account.localWindow, now, quota) > 0;
  if (isAdmitted && amount > 0) charge(account.localWindow, now, amount);
  return {
    isAdmitted,
    policy,
    remaining: remaining(account.localWindow, now, quota),
    resetMs: Math.ceil(resetAfterMs(account.localWindow, now)),
    retryAfterMs: Math.ceil(retryAfterMs(account.localWindow, now, quota)),
    isDegraded: true,
  };
}
