/** Round trips to the store, one at a time per account: calls that arrive during one wait for the next. */
import type { Account } from './account.ts';

type RoundTrips<PendingCall> = {
  /** Queues a call of an account for the next round trip; without a call, only makes one (to refill in advance). */
  enqueue(account: Account, call?: PendingCall): void;
};

/**
 * @param fetch makes one round trip: serves the calls that it takes out of the queue, and may put some back. It must not
 *   reject. It is repeated until the queue is empty.
 */
export function createRoundTrips<PendingCall>(
  fetch: (account: Account, queue: PendingCall[]) => Promise<void>,
): RoundTrips<PendingCall> {
  /** Queue of each account with a round trip under way. */
  const queues = new Map<Account, PendingCall[]>();

  async function fetchUntilServed(account: Account, queue: PendingCall[]): Promise<void> {
    do await fetch(account, queue);
    while (queue.length > 0);
    queues.delete(account);
  }

  return {
    enqueue(account, call) {
      const queue = queues.get(account);
      if (queue !== undefined) {
        if (call !== undefined) queue.push(call);
        return;
      }
      const started = call === undefined ? [] : [call];
      queues.set(account, started);
      void fetchUntilServed(account, started);
    },
  };
}
