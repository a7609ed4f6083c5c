/**
 * Coalesces concurrent identical calls of one process: one leads, the others follow and wait for its response. When a
 * leader ends without a response, a follower is promoted in its place. When that one fails too, two are promoted, then
 * four: calls do not queue up for the errors of a provider that is down, or that refuses this very body.
 */
import type { StoredResponse } from './bucket.ts';

/** A follower's response, or a leader's duty to get one. */
export type CoalescingRole =
  | { isLeader: false; response: StoredResponse }
  | {
      isLeader: true;
      /** To be called at the end of the call, successful or not; null: no complete 2xx response. */
      done(response: StoredResponse | null): void;
    };

export type Leaders = {
  /**
   * Resolves at once when the call leads; otherwise when there is a response, or the call is promoted. Rejects with the
   * signal's reason when that aborts first: a call whose client disconnected is never promoted.
   */
  join(key: string, signal?: AbortSignal): Promise<CoalescingRole>;
};

type Follower = { resolve(role: CoalescingRole): void; timer: NodeJS.Timeout };
type Group = {
  waiting: Set<Follower>;
  /** Leaders under way. */
  leaders: number;
  /** Followers to promote when all leaders under way have failed. */
  nextLeaders: number;
};

/**
 * Makes the coalescing of one process.
 * @param waitMs how long a follower waits before it makes its own call
 */
export function createLeaders({ waitMs }: { waitMs: number }): Leaders {
  const groups = new Map<string, Group>();

  function dissolve(key: string, group: Group): void {
    if (groups.get(key) === group) groups.delete(key);
  }

  function remove(group: Group, follower: Follower): void {
    clearTimeout(follower.timer);
    group.waiting.delete(follower);
  }

  function giveAll(key: string, group: Group, response: StoredResponse): void {
    dissolve(key, group);
    for (const follower of group.waiting) {
      remove(group, follower);
      follower.resolve({ isLeader: false, response });
    }
  }

  function promote(key: string, group: Group): void {
    const chosen = [...group.waiting].slice(0, group.nextLeaders);
    if (chosen.length === 0) dissolve(key, group);
    group.leaders = chosen.length;
    group.nextLeaders *= 2;
    for (const follower of chosen) {
      remove(group, follower);
      follower.resolve(leaderOf(key, group));
    }
  }

  function leaderOf(key: string, group: Group): CoalescingRole {
    let isDone = false;
    return {
      isLeader: true,
      done: (response) => {
        if (isDone) return;
        isDone = true;
        group.leaders -= 1;
        if (response !== null) giveAll(key, group, response);
        else if (group.leaders === 0) promote(key, group);
      },
    };
  }

  /** Promotes a follower that has waited too long, beside the other leaders; later calls no longer wait for them. */
  function promoteAlone(key: string, group: Group, follower: Follower): void {
    dissolve(key, group);
    remove(group, follower);
    group.leaders += 1;
    follower.resolve(leaderOf(key, group));
  }

  return {
    join: (key, signal) => {
      const group = groups.get(key);
      if (group === undefined) {
        const own: Group = { waiting: new Set(), leaders: 1, nextLeaders: 1 };
        groups.set(key, own);
        return Promise.resolve(leaderOf(key, own));
      }
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => promoteAlone(key, group, follower), waitMs);
        const follower = { resolve, timer };
        group.waiting.add(follower);
        const abandon = () => {
          remove(group, follower);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', abandon, { once: true });
      });
    },
  };
}
