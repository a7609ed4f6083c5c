/** Reading the state of a counter without using any of it. */
import type { Clock } from '../process/clock.ts';
import { type Account, applySnapshot, localBalance, sharedBalance } from './account.ts';
import type { CounterAvailability } from './availability.ts';
import type { CounterStore } from './counter-store.ts';
import { decide, decideDegraded } from './decide.ts';
import type { Settlements } from './settlements.ts';
import type { Decision } from './types.ts';

type PeekOptions = {
  clock: Clock;
  store: Pick<CounterStore, 'peek'>;
  availability: Pick<CounterAvailability, 'isUnavailable' | 'run'>;
  settlements: Pick<Settlements, 'overdraftNano'>;
  /** Returns the number of live gateways. */
  gateways(): number;
};

/** Maximum age of a counter snapshot that is not asked for again. */
const MAX_SNAPSHOT_AGE_MS = 1_000;

/** Creates the function that decides whether a call would be admitted now, by the store's state or, degraded, by this gateway's. */
export function createPeek(options: PeekOptions): (account: Account) => Decision | Promise<Decision> {
  const { clock, store, availability, settlements, gateways } = options;

  function peekLocal(account: Account): Decision {
    const now = clock.monotonic();
    const local = localBalance(account, now);
    return decide(account, sharedBalance(account) + local > 0, local, now);
  }

  async function peekStored(account: Account): Promise<Decision> {
    const includedOverdraftNano =
      account.ledger.overdrawnNano - settlements.overdraftNano(account.chargedCounter);
    const snapshot = await availability.run(() => store.peek(account));
    const now = clock.monotonic();
    if (snapshot === undefined) return decideDegraded(account, gateways(), now, 0);
    applySnapshot(account, snapshot, now, includedOverdraftNano);
    return peekLocal(account);
  }

  return (account) => {
    const now = clock.monotonic();
    if (availability.isUnavailable()) return decideDegraded(account, gateways(), now, 0);
    if (now - account.lastSnapshot.takenAt < MAX_SNAPSHOT_AGE_MS) return peekLocal(account);
    return peekStored(account);
  };
}
