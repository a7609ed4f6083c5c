/** Round trips to the store, one at a time per account: calls that arrive during one wait for the next. */
import type { Account } from './account.ts';

type RoundTrips<PendingCall> = {
  /** Queues a call of an account for the next round trip; without a call, only makes one (to refill in advance). */
  enqueue(account: Account, call?: PendingCall): void;
  /** Refills nothing any more, and resolves when no round trip is under way. */
  end(): Promise<void>;
};

type RoundTrip<PendingCall> = { queue: PendingCall[]; ended: Promise<void> };

/**
 * @param fetch makes one round trip: serves the calls that it takes out of the queue, and may put some back. It must not
 *   reject. It is repeated until the queue is empty.
 */
export function createRoundTrips<PendingCall>(
  fetch: (account: Account, queue: PendingCall[]) => Promise<void>,
): RoundTrips<PendingCall> {
  const underWay = new Map<Account, RoundTrip<PendingCall>>();
  let isEnding = false;

  async function fetchUntilServed(account: Account, queue: PendingCall[]): Promise<void> {
    do await fetch(account, queue);
    while (queue.length > 0);
    underWay.delete(account);
  }

  return {
    enqueue(account, call) {
      const joined = underWay.get(account);
      if (joined !== undefined) {
        if (call !== undefined) joined.queue.push(call);
        return;
      }
      if (call === undefined && isEnding) return;
      const queue = call === undefined ? [] : [call];
      underWay.set(account, { queue, ended: fetchUntilServed(account, queue) });
    },
    async end() {
      isEnding = true;
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ ended }) => ended));
    },
  };
}
