/** Accounts: what this gateway knows of a counter under a policy, and what it holds of it in advance. */

import { charge, createWindow, type Window, type WindowShape, windowShape } from '#core/rate-limit/mod.ts';
import { createLru } from '../process/lru.ts';
import { counterKey, counterName } from './counter-key.ts';
import type { CounterSnapshot, UnusedCredits } from './counter-store.ts';
import { availableNano, type Hold } from './hold.ts';
import { EMPTY_LEASE, type Lease, spendableCredits } from './lease.ts';
import type { Counter, Policy } from './types.ts';

/**
 * Running total, over all policies of a counter of money, of what this gateway's calls used beyond what the counter had
 * reserved for them. A snapshot of the counter lacks what was added since it was requested.
 */
export type Ledger = { overdrawnNano: number };

/** The last known state of a counter. Times are on this process's monotonic clock. */
type LastSnapshot = {
  /** Unused quota beyond our lease or hold; negative if more was used than the quota. */
  remaining: number;
  resetAt: number;
  retryAt: number;
  takenAt: number;
  /** The part of the ledger that the counter knew of when it was asked. */
  includedOverdraftNano: number;
};

/** Times are on this process's monotonic clock. */
export type Account = {
  readonly counter: Counter;
  readonly key: Buffer;
  /** `counterName` of the counter that was charged last: this one, or the overflow counter that stands in for it. */
  chargedCounter: string;
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly shape: WindowShape;
  /** Prefetched credits of a counter of calls. */
  lease: Lease;
  /** Prefetched money of a counter in cents, from which calls draw; null if nothing was prefetched. */
  hold: Hold | null;
  /** The next lease or hold is fetched once no more than this is left of the current one; NO_REFILL: never. */
  refillThreshold: number;
  /** Expired credits that are to be returned to the counter. */
  creditsToReturn: UnusedCredits[];
  lastSnapshot: LastSnapshot;
  /** The quota is used up: until then calls are refused without a round trip. */
  refusedUntil: number;
  /** Demand: calls a second at the last measurement, and calls since then. */
  callsPerSecond: number;
  callsSinceMeasured: number;
  measuredSince: number;
  lastCallAt: number;
  /** Moving average of the estimates of a counter of money. */
  averageEstimateNano: number;
  /** Everything this gateway admitted, which its share of the quota is measured by while degraded. */
  localWindow: Window | null;
  /** Calls admitted while degraded and not yet reported to Postgres, by sub-bucket. */
  readonly unreported: Map<number, number>;
};

export type Accounts = {
  /** Returns the account of a counter under a policy, which is created at its first call. */
  of(counter: Counter, policy: Policy): Account;
};

/** A refill threshold that no balance falls to. */
export const NO_REFILL = -1;
/** About a kilobyte each. An evicted account is rebuilt from the counter; the maintenance keeps its unsent reports. */
const MAX_ACCOUNTS = 20_000;

/** Creates the accounts of a process. */
export function createAccounts(): Accounts {
  const accounts = createLru<Account>(MAX_ACCOUNTS);
  // Touched whenever one of its accounts is, so that no ledger is evicted before its accounts.
  const ledgers = createLru<Ledger>(MAX_ACCOUNTS);
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
      // The value comes last, and no part before it contains a space: the name is unique.
      const { organizationId, unit, segment, value } = counter;
      const apiKeyId = counter.isOfKey ? `${counter.apiKeyId}!` : counter.apiKeyId;
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
    // A first call tells nothing of a demand, however young the process is.
    measuredSince: Number.NEGATIVE_INFINITY,
    lastCallAt: 0,
    averageEstimateNano: 0,
    localWindow: null,
    unreported: new Map(),
  };
}

/** Counts `amount`, which this gateway admitted, in its own window. */
export function countLocally(account: Account, now: number, amount: number): void {
  account.localWindow ??= createWindow(account.shape);
  charge(account.localWindow, now, amount);
}

/** Returns what this gateway may spend without a round trip: already charged, and not used yet. */
export function localBalance({ lease, hold }: Account, now: number): number {
  return spendableCredits(lease, now) + (hold === null ? 0 : availableNano(hold, now));
}

/** Returns the unused quota beyond lease and hold, as far as this gateway knows; negative if the quota is overdrawn. */
export function sharedBalance({ lastSnapshot, ledger }: Account): number {
  return lastSnapshot.remaining - (ledger.overdrawnNano - lastSnapshot.includedOverdraftNano);
}

/**
 * Returns the demand of late, in calls a second.
 * @param minPeriodMs shortest period to measure over, so that a few calls at once do not pass for a flood
 */
export function measureDemand(account: Account, now: number, minPeriodMs: number): number {
  const periodMs = now - account.measuredSince;
  const current = (account.callsSinceMeasured * 1000) / Math.max(minPeriodMs, periodMs);
  if (periodMs < minPeriodMs) return Math.max(current, account.callsPerSecond);
  account.callsPerSecond = current;
  account.callsSinceMeasured = 0;
  account.measuredSince = now;
  return current;
}

/**
 * Stores the counter's snapshot, at the time it arrived.
 * @param includedOverdraftNano the part of the ledger that the counter knew of when it was asked
 */
export function applySnapshot(
  account: Account,
  snapshot: CounterSnapshot,
  now: number,
  includedOverdraftNano = 0,
): void {
  account.lastSnapshot = {
    remaining: account.policy.quota - snapshot.used,
    resetAt: now + snapshot.resetMs,
    retryAt: now + snapshot.retryMs,
    takenAt: now,
    includedOverdraftNano,
  };
}

/**
 * Time for which an exhausted counter is not asked again. Shorter, and refused clients keep Postgres busy; longer, and credits
 * that other gateways return are found late.
 */
const BACK_OFF_MS = 50;

/** Refuses calls without a round trip for a moment, if the last snapshot says that the quota is used up. */
export function backOff(account: Account, now: number): void {
  account.refusedUntil = Math.min(account.lastSnapshot.retryAt, now + BACK_OFF_MS);
}
