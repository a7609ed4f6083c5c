/** What a call under a limit in money is told, and what happens when it says what it cost. */
import { randomUUID } from 'node:crypto';
import { correct } from '#core/rate-limit/mod.ts';
import { type Account, countLocally, decide, decideDegraded, localBalance } from './account.ts';
import { addCall, endCall, type Hold, openHold } from './hold.ts';
import type { Settlements } from './settlements.ts';
import type { Reservation } from './types.ts';

export type ReservationDecisions = {
  /** For a call that has entered a hold. */
  admitted(account: Account, hold: Hold, estimateNano: number, now: number): Reservation;
  refused(account: Account, now: number): Reservation;
  /** By this process's share, while the store does not answer; it is told what was admitted. */
  degraded(account: Account, estimateNano: number, now: number): Reservation;
};

export type DecisionsOptions = {
  settlements: Pick<Settlements, 'enqueueDegraded' | 'callEnded' | 'overdraftNano'>;
  /** Gateways that live. */
  gateways(): number;
  /** A decision was made by this process's share. */
  onDegraded(): void;
};

const settleNothing = () => {};

/** Makes the decisions of a process. */
export function createReservationDecisions({
  settlements,
  gateways,
  onDegraded,
}: DecisionsOptions): ReservationDecisions {
  function settlerOf(account: Account, hold: Hold, estimateNano: number, at: number): Reservation['settle'] {
    let isSettled = false;
    return (costNano) => {
      if (isSettled) return;
      isSettled = true;
      const cost = costNano ?? estimateNano;
      if (account.localWindow !== null) correct(account.localWindow, at, cost - estimateNano);
      // What it did not cost may be what the next one needs.
      account.refusedUntil = 0;
      const before = settlements.overdraftNano(hold.counter);
      endCall(hold, estimateNano, cost);
      settlements.callEnded(hold);
      account.ledger.overdrawnNano += settlements.overdraftNano(hold.counter) - before;
    };
  }

  return {
    admitted(account, hold, estimateNano, now) {
      countLocally(account, now, estimateNano);
      const decision = decide(account, true, localBalance(account, now), now);
      return { ...decision, settle: settlerOf(account, hold, estimateNano, now) };
    },
    refused: (account, now) => ({ ...decide(account, false, 0, now), settle: settleNothing }),
    degraded(account, estimateNano, now) {
      const decision = decideDegraded(account, gateways(), now, estimateNano);
      onDegraded();
      if (!decision.isAdmitted) return { ...decision, settle: settleNothing };
      const { organizationId } = account.counter;
      const reservationId = randomUUID();
      const { chargedCounter } = account;
      const hold = openHold({
        organizationId,
        counter: chargedCounter,
        reservationId,
        reservedNano: 0,
        expiresAt: now,
      });
      addCall(hold, estimateNano);
      hold.isClosed = true;
      settlements.enqueueDegraded(account, hold, estimateNano, now);
      account.ledger.overdrawnNano += estimateNano;
      return { ...decision, settle: settlerOf(account, hold, estimateNano, now) };
    },
  };
}
