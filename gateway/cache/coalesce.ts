/**
 * One call for all that ask the same at the same time: in this process by a flight, among processes by a claim.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#platform/process/clock.ts';
import type { CacheQuery, StoredResponse } from './bucket.ts';
import type { Claim, Claims } from './cross-process-lock.ts';
import { createFlights, type Turn } from './leaders.ts';

export type CoalescerOptions = {
  clock: Clock;
  /** How long a call waits for one of this process, and a leader for one of another. */
  waitMs: number;
  claims: Claims;
  /** The answer in memory. */
  remembered(ask: CacheQuery): StoredResponse | null;
  /** The answer in Postgres, asked for now. */
  read(ask: CacheQuery): Promise<StoredResponse | null>;
  /** Stores an answer; resolves when other processes can find it. */
  keep(ask: CacheQuery, answer: StoredResponse): Promise<void>;
  /** A call got another's answer. */
  onCoalesced(): void;
};

type Leader = Turn & { isLeader: true };

/** How often a leader looks whether another process has the answer: soon at first, then less and less often. */
const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 500;
const POLL_GROWTH = 1.5;

/** Makes the part of the cache that `lead` is. */
export function createCoalescer(options: CoalescerOptions): {
  lead(ask: CacheQuery, left?: AbortSignal): Promise<Turn>;
} {
  const { clock, waitMs, claims, remembered, read, keep, onCoalesced } = options;
  const flights = createFlights({ waitMs });

  /** The answer that another process got; null: the call is this process's to make, with a claim or past all patience. */
  async function askOthers(
    ask: CacheQuery,
    left?: AbortSignal,
  ): Promise<{ answer: StoredResponse | null; claim: Claim | null }> {
    const waitUntil = clock.monotonic() + waitMs;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * POLL_GROWTH, LAST_POLL_MS)) {
      const claim = await claims.take(ask);
      // After the claim, not before: whoever gave it back had stored its answer.
      const answer = await read(ask);
      const isOver = left?.aborted === true || clock.monotonic() >= waitUntil;
      if (answer !== null || claim !== null || isOver) return { answer, claim };
      await sleep(pollMs);
    }
  }

  /** The lead of a call that tells both, its flight and the other processes, how it ended. */
  function leading(ask: CacheQuery, turn: Leader, claim: Claim | null): Leader {
    let isDone = false;
    const done = async (answer: StoredResponse | null): Promise<void> => {
      if (isDone) return;
      isDone = true;
      turn.done(answer);
      if (answer !== null) await keep(ask, answer);
      // Not in this turn of the event loop, in which a follower that leads next takes the claim as well.
      if (claim !== null) setImmediate(() => void claim.release());
    };
    return { isLeader: true, done: (answer) => void done(answer) };
  }

  /** Who has left while others were asked makes no call. */
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
      known === null ? await flights.join(ask.key, left) : { isLeader: false, answer: known };
    if (!turn.isLeader) {
      onCoalesced();
      return turn;
    }
    // Who wants several answers of a key does not mind that processes get one each.
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
