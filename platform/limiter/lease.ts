/** Lease: prefetched credits of a counter of calls, already charged to the counter. */
import type { CounterSnapshot, UnusedCredits } from './counter-store.ts';

export type Lease = {
  credits: number;
  /** Its sub-bucket ends no earlier than this, on this process's monotonic clock. Credits left by then are dead. */
  readonly expiresAt: number;
  /** The charged counter, and the time of the charge on its clock: where unused credits are returned to. */
  readonly key: Buffer;
  readonly atMs: number;
};

export const EMPTY_LEASE: Readonly<Lease> = { credits: 0, expiresAt: 0, key: Buffer.alloc(0), atMs: 0 };

/** Returns a lease of `credits` out of what the counter granted with a snapshot. */
export function leaseFrom({ key, atMs }: CounterSnapshot, credits: number, expiresAt: number): Lease {
  return { credits, expiresAt, key, atMs };
}

/** Returns the credits that can be spent now. */
export function spendableCredits(lease: Lease, now: number): number {
  return now < lease.expiresAt ? lease.credits : 0;
}

/**
 * Merges two live leases of one counter. Both belong to the same sub-bucket, or the older would be dead; so both
 * estimates of its end are safe, and the later one is used.
 */
export function mergeLeases(older: Lease, newer: Lease): Lease {
  return {
    ...newer,
    credits: older.credits + newer.credits,
    expiresAt: Math.max(older.expiresAt, newer.expiresAt),
  };
}

/** Returns the credits of a lease as something to return to the counter. */
export function toUnusedCredits(organizationId: string, { key, atMs, credits }: Lease): UnusedCredits {
  return { organizationId, key, atMs, amount: credits };
}
