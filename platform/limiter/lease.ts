/** Credit of a counter that is charged already, in the hands of one process. */
import type { CounterSnapshot, UnusedCredits } from './counter-store.ts';

export type Lease = {
  credits: number;
  /** The sub-bucket ends no earlier, on this process's monotonic clock: what is left then is dead. */
  readonly expiresAt: number;
  /** Who was charged, and when on its clock: where unspent credit goes back to. */
  readonly key: Buffer;
  readonly atMs: number;
};

export const EMPTY_LEASE: Readonly<Lease> = { credits: 0, expiresAt: 0, key: Buffer.alloc(0), atMs: 0 };

/** The lease on `credits` of what an answer granted. */
export function leaseFrom({ key, atMs }: CounterSnapshot, credits: number, expiresAt: number): Lease {
  return { credits, expiresAt, key, atMs };
}

/** What can be spent now. */
export function spendableCredits(lease: Lease, now: number): number {
  return now < lease.expiresAt ? lease.credits : 0;
}

/**
 * Two leases of one counter that live at the same time as one. They are of the same sub-bucket, or the older would be
 * dead; so both reckonings of its end hold, and the later one is as good.
 */
export function mergeLeases(older: Lease, newer: Lease): Lease {
  return {
    ...newer,
    credits: older.credits + newer.credits,
    expiresAt: Math.max(older.expiresAt, newer.expiresAt),
  };
}

/** A lease as something to give back. */
export function toUnusedCredits(organizationId: string, { key, atMs, credits }: Lease): UnusedCredits {
  return { organizationId, key, atMs, amount: credits };
}
