/** The holds of a process's accounts: at most one of each account is open, and settlements follow when it closes. */
import { type Account, localBalance } from './account.ts';
import type { HoldRequest } from './counter-store.ts';
import { type Hold, openHold } from './hold.ts';
import type { Settlements } from './settlements.ts';

type AccountHolds = {
  /** Lets an account draw from a new hold, and closes its previous one. */
  replace(account: Account, hold: Hold, prefetchedNano: number): void;
  /** Closes an account's hold. */
  closeOf(account: Account): void;
  /** Closes a hold: no more calls draw from it, and its settlement is enqueued. */
  close(hold: Hold): void;
  /** Closes a hold that the counter may have reserved, and from which no call will draw. */
  releaseUnused(account: Account, request: HoldRequest): void;
  /** Closes the holds that have nothing left or have expired; `all`: the others too. */
  closeAll(now: number, all: boolean): void;
};

/** Creates the holds of a process. */
export function createAccountHolds(settlements: Pick<Settlements, 'enqueue'>): AccountHolds {
  /** Accounts that have had a hold since the last `closeAll`. */
  const accounts = new Set<Account>();

  function closeOf(account: Account): void {
    if (account.hold === null) return;
    close(account.hold);
    account.hold = null;
  }

  function close(hold: Hold): void {
    hold.isClosed = true;
    settlements.enqueue(hold);
  }

  return {
    replace(account, hold, prefetchedNano) {
      closeOf(account);
      account.hold = hold;
      account.refillThreshold = Math.floor(prefetchedNano / 2);
      accounts.add(account);
    },
    closeOf,
    close,
    releaseUnused({ counter: { organizationId }, chargedCounter: counter }, { reservationId }) {
      close(openHold({ organizationId, counter, reservationId, reservedNano: 0, expiresAt: 0 }));
    },
    closeAll(now, all) {
      for (const account of accounts) {
        if (!all && localBalance(account, now) > 0) continue;
        closeOf(account);
        accounts.delete(account);
      }
    },
  };
}
