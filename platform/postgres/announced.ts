/** Work that is announced on a channel of PostgreSQL, for loops that sleep while there is none. */
import type { Listener } from './listen.ts';

/**
 * Longest sleep of a loop, although it is woken when there is work: an announcement is lost when its process dies between the
 * commit and the notification, or on a connection whose ends do not know that it is dead.
 */
const LONGEST_SLEEP_MS = 30_000;
/** Time between looks where notifications do not arrive. */
const DEAF_SLEEP_MS = 1_000;

export type Announced = {
  /** Returns how long a loop that found no work may sleep, in milliseconds. */
  longestSleepMs(): number;
  /** Ends the announcements. */
  stop(): Promise<void>;
};

/** Calls `wake` at each announcement on a channel, and whenever one may have been missed. */
export function onAnnounced(listener: Listener, channel: string, wake: () => void): Announced {
  const listening = listener.listen({
    channel,
    onNotify: wake,
    onListening: wake,
    // A loop that is asleep must look more often from now on.
    onLost: wake,
  });
  return {
    longestSleepMs: () => (listener.isHearing() ? LONGEST_SLEEP_MS : DEAF_SLEEP_MS),
    stop: () => listening.stop(),
  };
}
