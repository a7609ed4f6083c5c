/** Watches for rows: how long after the answer to a call its row is there to be read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#platform/postgres/mod.ts';
import { type Answered, sharedClockMs } from '../gateway/answered.ts';

export type Watch = {
  /** Begins to look for the row of a call. */
  add(answered: Answered): void;
  /** Waits for the rows still looked for; returns how long each took, in milliseconds, sorted. */
  finish(): Promise<number[]>;
};

/** Short against what is measured, and long enough that looking costs little. */
const LOOK_EVERY_MS = 10;
const GIVE_UP_MS = 60_000;

/** Looks until `finish`; `onSeen` is told of each call whose row has appeared. */
export function watchRows(sql: Sql, onSeen: (answered: Answered) => void): Watch {
  const awaited = new Map<string, Answered>();
  const waits: number[] = [];
  let finishedAt = Number.POSITIVE_INFINITY;

  const look = async () => {
    const rows = await sql<{ id: string }[]>`
      select request_id as id from assay.requests
       where organization_id = (select organization_id from assay.organizations)
         and request_id = any(${[...awaited.keys()]})`;
    const nowMs = sharedClockMs();
    for (const { id } of rows) {
      const answered = awaited.get(id)!;
      awaited.delete(id);
      waits.push(nowMs - answered.atMs);
      onSeen(answered);
    }
  };

  const run = async () => {
    while (awaited.size > 0 || finishedAt === Number.POSITIVE_INFINITY) {
      if (awaited.size > 0) await look();
      if (performance.now() - finishedAt > GIVE_UP_MS)
        throw new Error(`${awaited.size} rows did not appear within ${GIVE_UP_MS} ms`);
      await sleep(LOOK_EVERY_MS);
    }
  };
  const running = run();
  // `finish` tells; until then nobody listens.
  running.catch(() => {});
  return {
    add: (answered) => {
      awaited.set(answered.requestId, answered);
    },
    async finish() {
      finishedAt = performance.now();
      await running;
      return waits.toSorted((a, b) => a - b);
    },
  };
}
