import type { Decision, Policy, Unit } from '#core/rate-limit/mod.ts';

export type { Decision, Policy, Unit } from '#core/rate-limit/mod.ts';

/** Identity of a counter: whose use is counted together. A change of a policy's quota or window keeps the counter. */
export type Counter = {
  organizationId: string;
  /** null: all keys of the organization together, as for logs. */
  apiKeyId: string | null;
  unit: Unit;
  /** `user`, or a property's name in lower case; '' for one counter for all calls. */
  segment: string;
  /** The user's id or the property's value, of any length. */
  value: string;
  /** It counts the key's own policy, apart from those that calls name. */
  isOfKey?: true;
};

/** A counter, and the policy by which it decides. */
export type Limit = { counter: Counter; policy: Policy };

/** Decision about a call whose cost is known only after it, and the function that reports the cost. */
export type Reservation = Decision & {
  /**
   * Replaces the estimate by the cost of the call, in whole nano-dollars; null keeps the estimate. Only the first call
   * counts, and on a refused reservation it does nothing. The settlement is delivered as long as the process lives.
   */
  settle(costNano: number | null): void;
};

export type Limiter = {
  /** Admits and counts one call, or refuses it: synchronously inside a lease, else after a round trip. Never rejects. */
  admit(counter: Counter, policy: Policy): Decision | Promise<Decision>;
  /**
   * Admits a call under a `cents` policy and counts its estimated cost, in whole nano-dollars, until it is settled:
   * synchronously inside a hold, else after a round trip. Never rejects.
   */
  reserve(counter: Counter, policy: Policy, estimateNano: number): Reservation | Promise<Reservation>;
  /**
   * Admits a call under two limits with different counters, or refuses it: both are charged, or neither. An estimate, in
   * whole nano-dollars, is reserved in a counter of money. Never rejects.
   */
  admitByBoth(own: Limit, named: Limit, estimateNano: number): Promise<Reservation>;
  /** Returns what `admitByBoth` would decide, without using anything. Never rejects. */
  peekBoth(own: Limit, named: Limit): Promise<Decision>;
  /** Returns what `admit` or `reserve` would decide, without using anything. Never rejects. */
  peek(counter: Counter, policy: Policy): Decision | Promise<Decision>;
  /** Returns whether the counters are unavailable, so that this gateway decides on its own. */
  isDegraded(): boolean;
  /** Number of ended calls whose cost has not reached the counters yet. */
  unreportedCalls(): number;
  /** Returns unused credits and sends outstanding settlements, within `timeoutMs`. The limiter must not be used after. */
  stop(timeoutMs: number): Promise<void>;
};
