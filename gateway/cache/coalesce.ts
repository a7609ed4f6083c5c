/**
 * Coalesces identical calls: those of this process by a leader, those of all processes by a lock in Postgres.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#platform/process/clock.ts';
import type { CacheQuery, StoredResponse } from './bucket.ts';
import type { Claim, Claims } from './cross-process-lock.ts';
import { createLeaders, type Turn } from './leaders.ts';

export type CoalescerOptions = {
  clock: Clock;
  /** How long a follower waits for its leader, and a leader for another process. */
  waitMs: number;
  claims: Claims;
  /** Returns the response in memory. */
  remembered(ask: CacheQuery): StoredResponse | null;
  /** Reads the response in Postgres. */
  read(ask: CacheQuery): Promise<StoredResponse | null>;
  /** Stores a response; resolves when other processes can find it. */
  keep(ask: CacheQuery, answer: StoredResponse): Promise<void>;
  /** Called when a call got another's response. */
  onCoalesced(): void;
};

type Leader = Turn & { isLeader: true };

/** The pauses of a leader that polls for the response of another process: short at first, then longer and longer. */
const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 500;
const POLL_GROWTH = 1.5;

/** Makes the `lead` of the cache. */
export function createCoalescer(options: CoalescerOptions): {
  lead(ask: CacheQuery, left?: AbortSignal): Promise<Turn>;
} {
  const { clock, waitMs, claims, remembered, read, keep, onCoalesced } = options;
  const leaders = createLeaders({ waitMs });

  /** Waits for the response of another process; null: this process makes the call, with the lock or after `waitMs`. */
  async function askOthers(
    ask: CacheQuery,
    left?: AbortSignal,
  ): Promise<{ answer: StoredResponse | null; claim: Claim | null }> {
    const waitUntil = clock.monotonic() + waitMs;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * POLL_GROWTH, LAST_POLL_MS)) {
      const claim = await claims.take(ask);
      // After the lock, not before: the process that released it had stored its response.
      const answer = await read(ask);
      const isOver = left?.aborted === true || clock.monotonic() >= waitUntil;
      if (answer !== null || claim !== null || isOver) return { answer, claim };
      await sleep(pollMs);
    }
  }

  /** Returns the turn of a leader, whose end reaches its followers and the other processes. */
  function leading(ask: CacheQuery, turn: Leader, claim: Claim | null): Leader {
    let isDone = false;
    const done = async (answer: StoredResponse | null): Promise<void> => {
      if (isDone) return;
      isDone = true;
      turn.done(answer);
      if (answer !== null) await keep(ask, answer);
      // Not in this turn of the event loop, in which a promoted follower takes the lock as well.
      if (claim !== null) setImmediate(() => void claim.release());
    };
    return { isLeader: true, done: (answer) => void done(answer) };
  }

  /** A call whose client left meanwhile is not made. */
  function begin(lead: Leader, left?: AbortSignal): Turn {
    if (left?.aborted === true) lead.done(null);
    left?.throwIfAborted();
    return lead;
  }

  async function lead(ask: CacheQuery, left?: AbortSignal): Promise<Turn> {
    left?.throwIfAborted();
    // It may have come since the caller's own look-up.
    const known = remembered(ask);
    const turn: Turn =
      known === null ? await leaders.join(ask.key, left) : { isLeader: false, answer: known };
    if (!turn.isLeader) {
      onCoalesced();
      return turn;
    }
    // A caller that wants several responses of a key does not mind that processes get one each.
    if (ask.buckets > 1) return leading(ask, turn, null);
    const { answer, claim } = await askOthers(ask, left);
    if (answer === null) return begin(leading(ask, turn, claim), left);
    void claim?.release();
    turn.done(answer);
    onCoalesced();
    return { isLeader: false, answer };
  }

  return { lead };
}
