/** The clock of Postgres, by which work is due. */
import type { Sql } from './connect.ts';

/**
 * Returns a function that calls `mend` if the clock of Postgres shows an earlier time than at its last call, and at the first one,
 * which cannot know what was shown before. A `mend` that fails is called again the next time.
 */
export function onSetBack(sql: Sql, mend: () => Promise<void>): () => Promise<void> {
  let lastMs = Number.POSITIVE_INFINITY;
  return async () => {
    const [clock] = await sql<[{ now: Date }]>`select now() as now`;
    const nowMs = clock.now.getTime();
    if (nowMs < lastMs) await mend();
    lastMs = nowMs;
  };
}
