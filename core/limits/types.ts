import type { Decision, Policy, Unit } from '../rate-limit/mod.ts';

export type { Decision, Policy, Unit } from '../rate-limit/mod.ts';

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

export type Reservation = {
  /** Unique in its organization, and not chosen by a caller: reserved twice, it counts once. */
  reservationId: string;
  /** What the call will probably cost, in whole nano-dollars. */
  estimateNano: number;
};

export type Limiter = {
  /** Admits one call, and counts it, or refuses. At once inside a lease, else after one round trip. Never rejects. */
  admit(counter: Counter, policy: Policy): Decision | Promise<Decision>;
  /** Admits a call under a `cents` policy and counts its estimate until `settle`. Never rejects. */
  reserve(counter: Counter, policy: Policy, reservation: Reservation): Promise<Decision>;
  /**
   * Replaces the estimate of an admitted reservation by what the call cost, in whole nano-dollars; null: the estimate
   * stands. The first time counts. Tried until the store has it, while the process lives.
   */
  settle(organizationId: string, reservationId: string, costNano: number | null): void;
  /** What `admit` or `reserve` would say, without using anything. Never rejects. */
  peek(counter: Counter, policy: Policy): Decision | Promise<Decision>;
  /** Whether the store is away, so that this process limits by itself. */
  isAway(): boolean;
  /** Costs that the store does not have yet. */
  unsettled(): number;
  /** Gives back unused credit and sends what is not settled yet, for `timeoutMs` at most. Nothing is asked after it. */
  stop(timeoutMs: number): Promise<void>;
};
