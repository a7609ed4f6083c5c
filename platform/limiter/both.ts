/**
 * Calls under two limits: that of the key and one that the call names. Each has a counter of its own, and both are charged or
 * neither. The second one is asked when the first one has admitted the call; if it refuses, the first one's credit goes back
 * to where it came from, and its reservation is settled at nothing. In between the first counter shows one call too many,
 * which can refuse another call that would have passed, and never lets one pass that should not.
 */
import { combineDecisions, type Decision } from '#core/rate-limit/mod.ts';
import type { Account, Accounts } from './account.ts';
import type { Admission } from './admission.ts';
import type { Limit, Reservation } from './types.ts';

type BothOptions = {
  accounts: Accounts;
  admission: Admission;
  reservations: { reserve(account: Account, estimateNano: number): Reservation | Promise<Reservation> };
  peek(account: Account): Decision | Promise<Decision>;
};

type Taken = {
  decision: Decision;
  /** Takes the charge back, as if the call had not been made. */
  giveBack(): void;
  settle(costNano: number | null): void;
};

const nothing = () => {};

/** Creates the admission of calls under two limits. */
export function createAdmissionByBoth({ accounts, admission, reservations, peek }: BothOptions) {
  const accountOf = ({ counter, policy }: Limit) => accounts.of(counter, policy);

  async function take(limit: Limit, estimateNano: number): Promise<Taken> {
    const account = accountOf(limit);
    if (limit.policy.unit === 'cents') {
      const reservation = await reservations.reserve(account, estimateNano);
      return { decision: reservation, giveBack: () => reservation.settle(0), settle: reservation.settle };
    }
    const admitted = await admission.admit(account);
    return { decision: admitted, giveBack: () => admission.giveBack(account, admitted), settle: nothing };
  }

  /** The limit that the call names is asked first: its counter is the one that fewer calls share. */
  async function admit(own: Limit, named: Limit, estimateNano: number): Promise<Reservation> {
    const first = await take(named, estimateNano);
    if (!first.decision.isAdmitted) {
      const other = await peek(accountOf(own));
      return { ...combineDecisions(other, first.decision), settle: nothing };
    }
    const second = await take(own, estimateNano);
    if (!second.decision.isAdmitted) {
      first.giveBack();
      const other = await peek(accountOf(named));
      return { ...combineDecisions(second.decision, other), settle: nothing };
    }
    return {
      ...combineDecisions(second.decision, first.decision),
      settle: (costNano) => {
        first.settle(costNano);
        second.settle(costNano);
      },
    };
  }

  return {
    admit,
    peek: async (own: Limit, named: Limit): Promise<Decision> =>
      combineDecisions(await peek(accountOf(own)), await peek(accountOf(named))),
  };
}
