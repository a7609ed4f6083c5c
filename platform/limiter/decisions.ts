/** What a call under a limit in money is told, and what happens when it says what it cost. */
import { randomUUID } from 'node:crypto';
import { correct } from '#core/rate-limit/mod.ts';
import { type Account, countOwn, decide, decideByShare, inHand } from './account.ts';
import { endCall, enter, type Hold, openHold } from './hold.ts';
import type { Settlements } from './settlements.ts';
import type { Reservation } from './types.ts';

export type Decisions = {
  /** For a call that has entered a hold. */
  admitted(account: Account, hold: Hold, estimateNano: number, now: number): Reservation;
  refused(account: Account, now: number): Reservation;
  /** By this process's share, while the store does not answer; it is told what was admitted. */
  shared(account: Account, estimateNano: number, now: number): Reservation;
};

export type DecisionsOptions = {
  settlements: Pick<Settlements, 'addMissed' | 'ended' | 'overdraft'>;
  /** Gateways that live. */
  gateways(): number;
  /** A decision was made by this process's share. */
  onDegraded(): void;
};

const settleNothing = () => {};

/** Makes the decisions of a process. */
export function createDecisions({ settlements, gateways, onDegraded }: DecisionsOptions): Decisions {
  function settlerOf(account: Account, hold: Hold, estimateNano: number, at: number): Reservation['settle'] {
    let isSettled = false;
    return (costNano) => {
      if (isSettled) return;
      isSettled = true;
      const cost = costNano ?? estimateNano;
      if (account.own !== null) correct(account.own, at, cost - estimateNano);
      // What it did not cost may be what the next one needs.
      account.refusedUntil = 0;
      const before = settlements.overdraft(hold.counter);
      endCall(hold, estimateNano, cost);
      settlements.ended(hold);
      account.ledger.overdrawn += settlements.overdraft(hold.counter) - before;
    };
  }

  return {
    admitted(account, hold, estimateNano, now) {
      countOwn(account, now, estimateNano);
      const decision = decide(account, true, inHand(account, now), now);
      return { ...decision, settle: settlerOf(account, hold, estimateNano, now) };
    },
    refused: (account, now) => ({ ...decide(account, false, 0, now), settle: settleNothing }),
    shared(account, estimateNano, now) {
      const decision = decideByShare(account, gateways(), now, estimateNano);
      onDegraded();
      if (!decision.isAdmitted) return { ...decision, settle: settleNothing };
      const { organizationId } = account.counter;
      const reservationId = randomUUID();
      const { charged } = account;
      const hold = openHold({ organizationId, counter: charged, reservationId, reserved: 0, expiresAt: now });
      enter(hold, estimateNano);
      hold.isClosed = true;
      settlements.addMissed(account, hold, estimateNano, now);
      account.ledger.overdrawn += estimateNano;
      return { ...decision, settle: settlerOf(account, hold, estimateNano, now) };
    },
  };
}
