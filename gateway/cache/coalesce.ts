/** Coalesces identical calls: those of this process by a leader, those of all processes by a lock in Postgres. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '#platform/process/backoff.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { CacheQuery, StoredResponse } from './bucket.ts';
import type { Lock, Locks } from './cross-process-lock.ts';
import { type CoalescingRole, createLeaders } from './leaders.ts';

export type CoalescerOptions = {
  clock: Clock;
  /** The longest wait of a follower for its leader, and of a leader for another process. */
  waitMs: number;
  locks: Locks;
  /** Returns the response in memory. */
  remembered(query: CacheQuery): StoredResponse | null;
  /** Reads the response in Postgres. */
  read(query: CacheQuery): Promise<StoredResponse | null>;
  /** Stores a response; resolves when other processes can find it. */
  keep(query: CacheQuery, response: StoredResponse): Promise<void>;
  /** Called when a call got another's response. */
  onCoalesced(): void;
};

type LeaderRole = CoalescingRole & { isLeader: true };

/** The pauses of a leader that polls for the response of another process: short at first, then longer and longer. */
const POLL = { firstMs: 20, longestMs: 500, factor: 1.5 };

/** Makes the `coalesce` of the cache. */
export function createCoalescer(options: CoalescerOptions): {
  coalesce(query: CacheQuery, signal?: AbortSignal): Promise<CoalescingRole>;
} {
  const { clock, waitMs, locks, remembered, read, keep, onCoalesced } = options;
  const leaders = createLeaders({ waitMs });

  /** Waits for the response of another process; null: this process makes the call, with the lock or after `waitMs`. */
  async function waitForOthers(
    query: CacheQuery,
    signal?: AbortSignal,
  ): Promise<{ response: StoredResponse | null; lock: Lock | null }> {
    const waitUntil = clock.monotonic() + waitMs;
    for (let polls = 0; ; polls += 1) {
      const lock = await locks.take(query);
      // After the lock, not before: the process that released it had stored its response.
      const response = await read(query);
      const isOver = signal?.aborted === true || clock.monotonic() >= waitUntil;
      if (response !== null || lock !== null || isOver) return { response, lock };
      await sleep(backoffMs(POLL, polls));
    }
  }

  /** Returns the role of a leader whose end also reaches the other processes. */
  function leading(query: CacheQuery, leader: LeaderRole, lock: Lock | null): LeaderRole {
    let isDone = false;
    const done = async (response: StoredResponse | null): Promise<void> => {
      if (isDone) return;
      isDone = true;
      leader.done(response);
      if (response !== null) await keep(query, response);
      // Released in a later turn of the event loop: in this one, a promoted follower takes a share of the lock.
      if (lock !== null) setImmediate(() => void lock.release());
    };
    return { isLeader: true, done: (response) => void done(response) };
  }

  /** Returns the leader's role. Throws the signal's reason when the client disconnected meanwhile: no call is made. */
  function begin(leader: LeaderRole, signal?: AbortSignal): CoalescingRole {
    if (signal?.aborted === true) leader.done(null);
    signal?.throwIfAborted();
    return leader;
  }

  async function coalesce(query: CacheQuery, signal?: AbortSignal): Promise<CoalescingRole> {
    signal?.throwIfAborted();
    // A response may have been stored since the caller's own look-up.
    const known = remembered(query);
    const role: CoalescingRole =
      known === null ? await leaders.join(query.key, signal) : { isLeader: false, response: known };
    if (!role.isLeader) {
      onCoalesced();
      return role;
    }
    // A caller that wants several responses of a key accepts one from each process.
    if (query.bucketSize > 1) return leading(query, role, null);
    const { response, lock } = await waitForOthers(query, signal);
    if (response === null) return begin(leading(query, role, lock), signal);
    void lock?.release();
    role.done(response);
    onCoalesced();
    return { isLeader: false, response };
  }

  return { coalesce };
}
