/**
 * Patience with filters that are too slow, until their webhooks are paused. The cause may lie elsewhere, in a lock or a stall of Postgres or a
 * batch that is large after an outage, and a webhook that is paused misses events until somebody resumes it.
 */
import type { Clock } from '#platform/process/clock.ts';

type Owned = { webhookId: string; organizationId: string };

/** With the feed's waits of one and two seconds: the third try, of a hundredth of the batch, decides. */
const PATIENCE_MS = 3_000;
/** An organization whose filter was paused has none for so long: a batch that is tried again holds up the events of all. */
const SPENT_MS = 600_000;

export type Patience = {
  /** Returns whether a filter that was too slow is tried again. */
  isLeft(webhook: Owned): boolean;
  noteInTime(webhook: Owned): void;
};

export function createPatience(clock: Clock): Patience {
  const lateSince = new Map<string, number>();
  /** Organizations in the order in which they had a webhook paused. */
  const spentAt = new Map<string, number>();

  function forgetSpent(now: number): void {
    for (const [organizationId, at] of spentAt) {
      if (now - at < SPENT_MS) return;
      spentAt.delete(organizationId);
    }
  }

  return {
    isLeft({ webhookId, organizationId }) {
      const now = clock.monotonic();
      forgetSpent(now);
      const since = lateSince.get(webhookId) ?? now;
      lateSince.set(webhookId, since);
      if (now - since < PATIENCE_MS && !spentAt.has(organizationId)) return true;
      lateSince.delete(webhookId);
      spentAt.delete(organizationId);
      spentAt.set(organizationId, now);
      return false;
    },
    noteInTime({ webhookId }) {
      lateSince.delete(webhookId);
    },
  };
}
