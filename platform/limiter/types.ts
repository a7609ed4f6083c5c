import type { Decision, Policy, Unit } from '#core/rate-limit/mod.ts';

export type { Decision, Policy, Unit } from '#core/rate-limit/mod.ts';

/** Whose use is counted together. Changing a policy's quota or window keeps the counter. */
export type Counter = {
  organizationId: string;
  /** null: all keys of the organization together, as for logs. */
  apiKeyId: string | null;
  unit: Unit;
  /** `user`, or a property's name in lower case; '': one counter for all. */
  segment: string;
  /** The user's id, or the property's value; of any length. */
  value: string;
};

/** Whether a call whose cost is known only afterwards was admitted, and how to say what it did cost. */
export type Reservation = Decision & {
  /**
   * Replaces the estimate by what the call cost, in whole nano-dollars; null: the estimate stands. The first time
   * counts; for a call that was refused there is nothing to replace. The store is told while the process lives.
   */
  settle(costNano: number | null): void;
};

export type Limiter = {
  /** Admits one call, and counts it, or refuses. At once inside a lease, else after one round trip. Never rejects. */
  admit(counter: Counter, policy: Policy): Decision | Promise<Decision>;
  /**
   * Admits a call under a `cents` policy, and counts what it will probably cost, in whole nano-dollars, until it is
   * settled. At once inside a hold, else after one round trip. Never rejects.
   */
  reserve(counter: Counter, policy: Policy, estimateNano: number): Reservation | Promise<Reservation>;
  /** What `admit` or `reserve` would say, without using anything. Never rejects. */
  peek(counter: Counter, policy: Policy): Decision | Promise<Decision>;
  /** Whether the store is away, so that this process limits by itself. */
  isDegraded(): boolean;
  /** Calls that have ended, and of whose cost the store has not been told yet. */
  unreportedCalls(): number;
  /** Gives back what is unused and tells what calls cost, for `timeoutMs` at most. Nothing is asked after it. */
  stop(timeoutMs: number): Promise<void>;
};
