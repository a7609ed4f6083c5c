/** The erasures that this process knows of, and since when it can have missed none. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/process/clock.ts';

export type KnownErasures = {
  add(requestIds: readonly string[]): void;
  has(requestId: string): boolean;
  /** Notes whether erasures are announced to this process from now on. Initially they are. */
  setListening(isListening: boolean): void;
  /** Notes that erasures before now may have been missed. */
  recheck(): void;
  /** Returns whether what Postgres had at `knownAt`, on the monotonic clock, cannot have been erased unnoticed. */
  isComplete(knownAt: number): boolean;
};

/** Longer than any look-up or write that was under way at an erasure, as far as Postgres responds at all. */
const KNOWN_MS = 300_000;
/** Ids of erased requests in memory, of 200 bytes each. */
const MAX_KNOWN = 50_000;

export function createKnownErasures(clock: Clock): KnownErasures {
  const erased = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  let isListening = true;
  let completeSince = Number.NEGATIVE_INFINITY;
  return {
    add: (requestIds) => {
      for (const requestId of requestIds) erased.set(requestId, true);
    },
    has: (requestId) => erased.has(requestId),
    setListening: (isNow) => {
      isListening = isNow;
      completeSince = clock.monotonic();
    },
    recheck: () => {
      completeSince = clock.monotonic();
    },
    isComplete: (knownAt) => isListening && knownAt >= completeSince,
  };
}
