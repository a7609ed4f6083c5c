/**
 * Walks through the log from the newest request back, in slices of time that a statement can look through before it is cancelled.
 * A filter of rare texts in bodies finds nothing in hours of looking: a statement that looks for a whole page never ends in time, and
 * so the walk would stand still. The first look is at everything, which an index or a common filter makes short.
 *
 * Lengths are kept in memory: a process that takes a walk over finds one by itself.
 */
import type { Sql, TransactionSql } from '../postgres/mod.ts';
import { type Clock, systemClock } from '../process/clock.ts';
import { createLru } from '../process/lru.ts';

/** Slices become so many times shorter when one took too long. */
const SHORTER = 8;
/** And so many times longer when one took less than this part of the time for a look: the next one has time enough. */
const LONGER = 4;
const QUICK = 0.1;
/** Walks that are remembered. */
const MAX_WALKS = 1_000;

type Slices = { lengthMs: number; oldestMs: number };

export type Page<Key> = {
  keys: readonly Key[];
  /** Where the walk goes on; null: it has come to its end. */
  next: { createdAt: Date; requestId: string } | null;
};

export class TimeSlices {
  readonly #quickMs: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #walks = createLru<Slices>(MAX_WALKS);

  /** @param lookMs the time after which a look is cancelled */
  constructor(lookMs: number, clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#quickMs = lookMs * QUICK;
    this.#clock = clock;
  }

  /** Returns where the next slice of a walk begins, in ms since the epoch: it includes that time. Null: it has all that is left. */
  floorOf(walk: string, fromMs: number): number | null {
    const slices = this.#walks.get(walk);
    if (slices === undefined) return null;
    const floorMs = fromMs - slices.lengthMs;
    return floorMs <= slices.oldestMs ? null : floorMs;
  }

  /**
   * Looks for the next page of a walk in a slice. It may be short, or empty, before the end.
   * @param select finds at most `limit` requests from `floorMs` on (null: from the oldest on), the newest first
   * @example await slices.nextPage(jobId, reachedMs, 100, (floorMs) => selectPage(tx, job, floorMs))
   */
  async nextPage<Key extends { created_at: Date; request_id: string }>(
    walk: string,
    fromMs: number,
    limit: number,
    select: (floorMs: number | null) => Promise<Key[]>,
  ): Promise<Page<Key>> {
    const floorMs = this.floorOf(walk, fromMs);
    const keys = await this.timed(walk, () => select(floorMs));
    if (keys.length === limit) {
      const last = keys.at(-1)!;
      return { keys, next: { createdAt: last.created_at, requestId: last.request_id } };
    }
    // No id is less than the empty one: the next page begins below the slice.
    return { keys, next: floorMs === null ? null : { createdAt: new Date(floorMs), requestId: '' } };
  }

  /**
   * Makes the slices of a walk shorter, because one took too long.
   * @param oldestMs the time of the oldest request; null: there is none
   * @returns false when they cannot be shorter
   */
  shorten(walk: string, fromMs: number, oldestMs: number | null): boolean {
    if (oldestMs === null) return false;
    const leftMs = fromMs - oldestMs;
    const nowMs = Math.min(this.#walks.get(walk)?.lengthMs ?? leftMs, leftMs);
    if (nowMs <= 1) return false;
    this.#walks.set(walk, { lengthMs: Math.max(1, Math.floor(nowMs / SHORTER)), oldestMs });
    return true;
  }

  /** Looks through a slice. A quick one makes the next ones longer. */
  async timed<T>(walk: string, look: () => Promise<T>): Promise<T> {
    const began = this.#clock.monotonic();
    const result = await look();
    const slices = this.#walks.get(walk);
    if (slices !== undefined && this.#clock.monotonic() - began < this.#quickMs) slices.lengthMs *= LONGER;
    return result;
  }
}

/** Returns the time of an organization's oldest request, in ms since the epoch; null: it has none. */
export async function oldestRequestMs(
  sql: Sql | TransactionSql,
  organizationId: string,
): Promise<number | null> {
  const [row] = await sql<{ oldest: Date | null }[]>`
    select min(created_at) as oldest from assay.requests where organization_id = ${organizationId}`;
  return row?.oldest?.getTime() ?? null;
}
