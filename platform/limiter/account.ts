/** What this process knows of one counter under one policy: what it has in hand, the store's last word, its own share. */
import { LRUCache } from 'lru-cache';
import {
  charge,
  createWindow,
  remaining,
  resetAfterMs,
  retryAfterMs,
  type Window,
  type WindowShape,
  windowShape,
} from '#core/rate-limit/mod.ts';
import { counterKey, counterName } from './counter-key.ts';
import type { CounterSnapshot, UnusedCredits } from './counter-store.ts';
import { availableNano, type Hold } from './hold.ts';
import { EMPTY_LEASE, type Lease, spendableCredits } from './lease.ts';
import type { Counter, Decision, Policy } from './types.ts';

/**
 * Of a counter of money, whatever the policy: by how much calls of this process went beyond what the store had reserved
 * for them, all together. What a view of the counter does not contain yet is the growth since.
 */
export type Ledger = { overdrawnNano: number };

/** Times are on the monotonic clock of this process. */
export type Account = {
  readonly counter: Counter;
  readonly key: Buffer;
  /** The counter that the store charged last for this one, by its `counterName`. */
  chargedCounter: string;
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly shape: WindowShape;
  /** Of a counter of calls. */
  lease: Lease;
  /** Of a counter of money: what calls draw from; null: nothing was reserved ahead of need. */
  hold: Hold | null;
  /** When no more than this is left in lease or hold, the next one is fetched; NEVER: it is not worth it. */
  refillThreshold: number;
  /** Credit that died unspent, to be given back. */
  creditsToReturn: UnusedCredits[];
  /** The store's last answer: what was left beyond our lease, when, and how much of the ledger it contains. */
  lastSnapshot: {
    remaining: number;
    resetAt: number;
    retryAt: number;
    takenAt: number;
    includedOverdraftNano: number;
  };
  /** Nothing was left: until then the store is not asked again. */
  refusedUntil: number;
  /** Asks a second when it was measured last, and asks since then. */
  callsPerSecond: number;
  callsSinceMeasured: number;
  measuredSince: number;
  lastCallAt: number;
  /** Of a counter of money: what estimates are like of late, in nano-dollars. */
  averageEstimateNano: number;
  /** What this process admitted, by all ways: what its share counts when the store is away. */
  localWindow: Window | null;
  /** Of it, by the sub-bucket's number, what the store does not know of. */
  readonly unreported: Map<number, number>;
};

export type Accounts = {
  /** The account of a counter under a policy; made at the first call. */
  of(counter: Counter, policy: Policy): Account;
};

/** A low water that nothing falls to. */
export const NO_REFILL = -1;
/** A kilobyte each. One that falls out is made anew from the store; what it owes is with the upkeep. */
const MAX_ACCOUNTS = 20_000;

/** The accounts of a process. */
export function createAccounts(): Accounts {
  const accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });
  // Used whenever one of its accounts is, so that none falls out before they do.
  const ledgers = new LRUCache<string, Ledger>({ max: MAX_ACCOUNTS });
  const ledgerOf = (name: string) => {
    let ledger = ledgers.get(name);
    if (ledger === undefined) {
      ledger = { overdrawnNano: 0 };
      ledgers.set(name, ledger);
    }
    return ledger;
  };
  return {
    of(counter, policy) {
      // The value comes last, and nothing before it holds a space: no two are written alike.
      const { organizationId, apiKeyId, unit, segment, value } = counter;
      const name = `${organizationId} ${apiKeyId} ${unit} ${policy.quota} ${policy.windowS} ${segment} ${value}`;
      let account = accounts.get(name);
      const ledger = ledgerOf(unit === 'cents' ? `${organizationId} ${apiKeyId} ${segment} ${value}` : '');
      if (account === undefined) {
        account = openAccount(counter, policy, ledger);
        accounts.set(name, account);
      }
      return account;
    },
  };
}

function openAccount(counter: Counter, policy: Policy, ledger: Ledger): Account {
  const key = counterKey(counter);
  return {
    counter,
    key,
    chargedCounter: counterName(counter.organizationId, key),
    ledger,
    policy,
    shape: windowShape(policy.windowS),
    lease: { ...EMPTY_LEASE },
    hold: null,
    refillThreshold: NO_REFILL,
    creditsToReturn: [],
    lastSnapshot: {
      remaining: policy.quota,
      resetAt: 0,
      retryAt: 0,
      takenAt: Number.NEGATIVE_INFINITY,
      includedOverdraftNano: 0,
    },
    refusedUntil: 0,
    callsPerSecond: 0,
    callsSinceMeasured: 0,
    measuredSince: 0,
    lastCallAt: 0,
    averageEstimateNano: 0,
    localWindow: null,
    unreported: new Map(),
  };
}

/** Counts what this process admitted. */
export function countLocally(account: Account, now: number, amount: number): void {
  account.localWindow ??= createWindow(account.shape);
  charge(account.localWindow, now, amount);
}

/** What is charged already, and can be used without asking. */
export function localBalance({ lease, hold }: Account, now: number): number {
  return spendableCredits(lease, now) + (hold === null ? 0 : availableNano(hold, now));
}

/**
 * Asks a second, of late.
 * @param leastMs they are counted over no less, so that a few at once are not taken for a flood
 */
export function measureDemand(account: Account, now: number, leastMs: number): number {
  const forMs = now - account.measuredSince;
  const current = (account.callsSinceMeasured * 1000) / Math.max(leastMs, forMs);
  if (forMs < leastMs) return Math.max(current, account.callsPerSecond);
  account.callsPerSecond = current;
  account.callsSinceMeasured = 0;
  account.measuredSince = now;
  return current;
}

/**
 * Takes over what the store said, at the time that its answer came.
 * @param includedOverdraftNano how much of the ledger the store knew when it was asked
 */
export function applySnapshot(
  account: Account,
  answer: CounterSnapshot,
  now: number,
  includedOverdraftNano = 0,
): void {
  account.lastSnapshot = {
    remaining: account.policy.quota - answer.used,
    resetAt: now + answer.resetMs,
    retryAt: now + answer.retryMs,
    takenAt: now,
    includedOverdraftNano,
  };
}

/** What is left beyond lease and hold, as far as this process knows; negative when more was used than the quota. */
export function sharedBalance({ lastSnapshot, ledger }: Account): number {
  return lastSnapshot.remaining - (ledger.overdrawnNano - lastSnapshot.includedOverdraftNano);
}

/** A counter that has nothing left is asked again this soon: others give back what they did not spend. */
const REFUSED_MS = 50;

/** Does not ask for a moment, if the store's last word was that nothing is left. */
export function backOff(account: Account, now: number): void {
  account.refusedUntil = Math.min(account.lastSnapshot.retryAt, now + REFUSED_MS);
}

/** A decision by what the store said last, with `left` of this process's own beyond it. */
export function decide(account: Account, isAdmitted: boolean, left: number, now: number): Decision {
  const { policy, lastSnapshot } = account;
  const rest = Math.max(0, sharedBalance(account) + left);
  return {
    isAdmitted,
    policy,
    remaining: rest,
    resetMs: Math.max(0, Math.ceil(lastSnapshot.resetAt - now)),
    retryAfterMs: rest > 0 ? 0 : Math.max(0, Math.ceil(lastSnapshot.retryAt - now)),
    isDegraded: false,
  };
}

/** This process's share of a quota while the store is away: never nothing. */
function degradedQuota(policy: Policy, gateways: number): number {
  return Math.max(1, Math.floor(policy.quota / gateways));
}

/**
 * Admits by this process's own share, counting `amount`, and says so. `amount` 0 only looks.
 */
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
