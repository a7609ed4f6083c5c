/** Asks the store about an account, one round trip at a time: who comes while it is being asked has the next turn. */
import type { Account } from './account.ts';

export type RoundTrips<Ask> = {
  /** Puts an ask in the queue of its account; none: nobody waits, but the store is to be asked. */
  enqueue(account: Account, ask?: Ask): void;
};

/** @param take serves the asks that it takes out of the queue, and may put some back; never rejects */
export function createRoundTrips<Ask>(
  take: (account: Account, asks: Ask[]) => Promise<void>,
): RoundTrips<Ask> {
  /** Who waits for an account; there while the store is being asked. */
  const waiting = new Map<Account, Ask[]>();

  async function takeUntilServed(account: Account, asks: Ask[]): Promise<void> {
    do await take(account, asks);
    while (asks.length > 0);
    waiting.delete(account);
  }

  return {
    enqueue(account, ask) {
      const queue = waiting.get(account);
      if (queue !== undefined) {
        if (ask !== undefined) queue.push(ask);
        return;
      }
      const asks = ask === undefined ? [] : [ask];
      waiting.set(account, asks);
      void takeUntilServed(account, asks);
    },
  };
}
