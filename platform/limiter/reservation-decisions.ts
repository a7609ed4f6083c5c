/** Decisions about calls under a limit in money, each with the function that settles its cost. */
import { randomUUID } from 'node:crypto';
import { correct } from '#core/rate-limit/mod.ts';
import { type Account, countLocally, localBalance } from './account.ts';
import { decide, decideDegraded } from './decide.ts';
import { addCall, endCall, type Hold, openHold } from './hold.ts';
import type { Settlements } from './settlements.ts';
import type { Reservation } from './types.ts';

type ReservationDecisions = {
  /** Admits a call whose estimate is in the hold. */
  admitted(account: Account, hold: Hold, estimateNano: number, now: number): Reservation;
  refused(account: Account, now: number): Reservation;
  /** Decides by this gateway's share of the quota, while the store is unavailable, and reports an admitted call later. */
  degraded(account: Account, estimateNano: number, now: number): Reservation;
};

type ReservationDecisionsOptions = {
  settlements: Pick<Settlements, 'enqueueDegraded' | 'callEnded' | 'overdraftNano'>;
  /** Returns the number of live gateways. */
  gateways(): number;
  /** Called at each degraded decision. */
  onDegraded(): void;
};

const settleNothing = () => {};

/** Creates the decisions of a process. */
export function createReservationDecisions(options: ReservationDecisionsOptions): ReservationDecisions {
  const { settlements, gateways, onDegraded } = options;

  function settleOnce(account: Account, hold: Hold, estimateNano: number, at: number): Reservation['settle'] {
    let isSettled = false;
    return (costNano) => {
      if (isSettled) return;
      isSettled = true;
      const cost = costNano ?? estimateNano;
      if (account.localWindow !== null) correct(account.localWindow, at, cost - estimateNano);
      // The money that this call did not use may be what the next one needs.
      account.refusedUntil = 0;
      const overdraftBefore = settlements.overdraftNano(hold.counter);
      endCall(hold, estimateNano, cost);
      settlements.callEnded(hold);
      account.ledger.overdrawnNano += settlements.overdraftNano(hold.counter) - overdraftBefore;
    };
  }

  return {
    admitted(account, hold, estimateNano, now) {
      countLocally(account, now, estimateNano);
      const decision = decide(account, true, localBalance(account, now), now);
      return { ...decision, settle: settleOnce(account, hold, estimateNano, now) };
    },
    refused: (account, now) => ({ ...decide(account, false, 0, now), settle: settleNothing }),
    degraded(account, estimateNano, now) {
      const decision = decideDegraded(account, gateways(), now, estimateNano);
      onDegraded();
      if (!decision.isAdmitted) return { ...decision, settle: settleNothing };
      const hold = openHold({
        organizationId: account.counter.organizationId,
        counter: account.chargedCounter,
        reservationId: randomUUID(),
        reservedNano: 0,
        expiresAt: now,
      });
      addCall(hold, estimateNano);
      hold.isClosed = true;
      settlements.enqueueDegraded(account, hold, estimateNano, now);
      account.ledger.overdrawnNano += estimateNano;
      return { ...decision, settle: settleOnce(account, hold, estimateNano, now) };
    },
  };
}
