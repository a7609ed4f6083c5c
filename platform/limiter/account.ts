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
import { type Hold, restOf } from './hold.ts';
import { type Lease, NO_LEASE, spendable } from './lease.ts';
import type { StoreAnswer, Unspent } from './store.ts';
import type { Counter, Decision, Policy } from './types.ts';

/**
 * Of a counter of money, whatever the policy: by how much calls of this process went beyond what the store had reserved
 * for them, all together. What a view of the counter does not contain yet is the growth since.
 */
export type Ledger = { overdrawn: number };

/** Times are on the monotonic clock of this process. */
export type Account = {
  readonly counter: Counter;
  readonly key: Buffer;
  /** The counter that the store charged last for this one, by its `counterName`. */
  charged: string;
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly shape: WindowShape;
  /** Of a counter of calls. */
  lease: Lease;
  /** Of a counter of money: what calls draw from; null: nothing was reserved ahead of need. */
  hold: Hold | null;
  /** When no more than this is left in lease or hold, the next one is fetched; NEVER: it is not worth it. */
  lowWater: number;
  /** Credit that died unspent, to be given back. */
  owed: Unspent[];
  /** The store's last answer: what was left beyond our lease, when, and how much of the ledger it contains. */
  view: { remaining: number; resetAt: number; retryAt: number; at: number; overdrawn: number };
  /** Nothing was left: until then the store is not asked again. */
  refusedUntil: number;
  /** Asks a second when it was measured last, and asks since then. */
  demand: number;
  asked: number;
  askedSince: number;
  askedLast: number;
  /** Of a counter of money: what estimates are like of late, in nano-dollars. */
  usualNano: number;
  /** What this process admitted, by all ways: what its share counts when the store is away. */
  own: Window | null;
  /** Of it, by the sub-bucket's number, what the store does not know of. */
  readonly uncounted: Map<number, number>;
};

export type Accounts = {
  /** The account of a counter under a policy; made at the first call. */
  of(counter: Counter, policy: Policy): Account;
};

/** A low water that nothing falls to. */
export const NEVER = -1;
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
      ledger = { overdrawn: 0 };
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
    charged: counterName(counter.organizationId, key),
    ledger,
    policy,
    shape: windowShape(policy.windowS),
    lease: { ...NO_LEASE },
    hold: null,
    lowWater: NEVER,
    owed: [],
    view: { remaining: policy.quota, resetAt: 0, retryAt: 0, at: Number.NEGATIVE_INFINITY, overdrawn: 0 },
    refusedUntil: 0,
    demand: 0,
    asked: 0,
    askedSince: 0,
    askedLast: 0,
    usualNano: 0,
    own: null,
    uncounted: new Map(),
  };
}

/** Counts what this process admitted. */
export function countOwn(account: Account, now: number, amount: number): void {
  account.own ??= createWindow(account.shape);
  charge(account.own, now, amount);
}

/** What is charged already, and can be used without asking. */
export function inHand({ lease, hold }: Account, now: number): number {
  return spendable(lease, now) + (hold === null ? 0 : restOf(hold, now));
}

/**
 * Asks a second, of late.
 * @param leastMs they are counted over no less, so that a few at once are not taken for a flood
 */
export function demand(account: Account, now: number, leastMs: number): number {
  const forMs = now - account.askedSince;
  const current = (account.asked * 1000) / Math.max(leastMs, forMs);
  if (forMs < leastMs) return Math.max(current, account.demand);
  account.demand = current;
  account.asked = 0;
  account.askedSince = now;
  return current;
}

/**
 * Takes over what the store said, at the time that its answer came.
 * @param overdrawn how much of the ledger the store knew when it was asked
 */
export function learn(account: Account, answer: StoreAnswer, now: number, overdrawn = 0): void {
  account.view = {
    remaining: account.policy.quota - answer.used,
    resetAt: now + answer.resetMs,
    retryAt: now + answer.retryMs,
    at: now,
    overdrawn,
  };
}

/** What is left beyond lease and hold, as far as this process knows; negative when more was used than the quota. */
export function balance({ view, ledger }: Account): number {
  return view.remaining - (ledger.overdrawn - view.overdrawn);
}

/** A counter that has nothing left is asked again this soon: others give back what they did not spend. */
const REFUSED_MS = 50;

/** Does not ask for a moment, if the store's last word was that nothing is left. */
export function standBack(account: Account, now: number): void {
  account.refusedUntil = Math.min(account.view.retryAt, now + REFUSED_MS);
}

/** A decision by what the store said last, with `left` of this process's own beyond it. */
export function decide(account: Account, isAdmitted: boolean, left: number, now: number): Decision {
  const { policy, view } = account;
  const rest = Math.max(0, balance(account) + left);
  return {
    isAdmitted,
    policy,
    remaining: rest,
    resetMs: Math.max(0, Math.ceil(view.resetAt - now)),
    retryAfterMs: rest > 0 ? 0 : Math.max(0, Math.ceil(view.retryAt - now)),
    isDegraded: false,
  };
}

/** This process's share of a quota while the store is away: never nothing. */
function shareOf(policy: Policy, gateways: number): number {
  return Math.max(1, Math.floor(policy.quota / gateways));
}

/**
 * Admits by this process's own share, counting `amount`, and says so. `amount` 0 only looks.
 */
export function decideByShare(account: Account, gateways: number, now: number, amount: number): Decision {
  const { policy } = account;
  const quota = shareOf(policy, gateways);
  account.own ??= createWindow(account.shape);
  const isAdmitted = remaining(account.own, now, quota) > 0;
  if (isAdmitted && amount > 0) charge(account.own, now, amount);
  return {
    isAdmitted,
    policy,
    remaining: remaining(account.own, now, quota),
    resetMs: Math.ceil(resetAfterMs(account.own, now)),
    retryAfterMs: Math.ceil(retryAfterMs(account.own, now, quota)),
    isDegraded: true,
  };
}
