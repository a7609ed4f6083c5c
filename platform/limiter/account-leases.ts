/** The leases of a process's accounts: one of each account is drawn from, and the credits of dead ones are returned. */
import { type Account, NO_REFILL } from './account.ts';
import { type Lease, mergeLeases, spendableCredits, toUnusedCredits } from './lease.ts';

type AccountLeases = {
  /** Merges granted credits into an account's lease, or replaces the lease if it is dead. */
  add(account: Account, granted: Lease, now: number): void;
  /**
   * Takes back the credit of a call that is not made. It is spent again only in the sub-bucket in which it was charged;
   * otherwise it is returned to the counter.
   */
  giveBack(account: Account, source: Lease, now: number): void;
  /** Notes the credits of a dead lease, to be returned to the counter. */
  returnLater(account: Account, dead: Lease): void;
};

/**
 * Creates the leases of a process.
 * @param track called when an account has credits, or something to return
 */
export function createAccountLeases(track: (account: Account) => void): AccountLeases {
  function returnLater(account: Account, dead: Lease): void {
    if (dead.credits === 0) return;
    account.creditsToReturn.push(toUnusedCredits(account.counter.organizationId, dead));
    track(account);
  }

  return {
    add(account, granted, now) {
      const { lease } = account;
      const isAlive = spendableCredits(lease, now) > 0;
      if (!isAlive) returnLater(account, lease);
      if (granted.credits === 0 && isAlive) return;
      account.lease = isAlive ? mergeLeases(lease, granted) : granted;
      account.refillThreshold = granted.credits === 0 ? NO_REFILL : Math.floor(account.lease.credits / 2);
      track(account);
    },
    giveBack(account, source, now) {
      const { lease } = account;
      if (now < source.expiresAt && now < lease.expiresAt && source.key.equals(lease.key)) {
        // Two leases of one counter that are alive belong to the same sub-bucket.
        lease.credits += 1;
        account.refusedUntil = 0;
        track(account);
      } else {
        returnLater(account, { ...source, credits: 1 });
      }
    },
    returnLater,
  };
}
