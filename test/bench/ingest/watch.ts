/** Watches for rows: how long after the answer to a call its row is there to be read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#platform/postgres/mod.ts';
import { ulidTimeMs } from '#platform/process/ids.ts';
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
    const ids = [...awaited.keys()];
    const createdAts = ids.map((id) => new Date(ulidTimeMs(id)!).toISOString());
    // One look into the primary key for each: PostgreSQL would otherwise read the keys of all requests, time and again.
    const rows = await sql<{ id: string }[]>`
      select request_id as id from unnest(${createdAts}::timestamptz[], ${ids}::text[]) as awaited (created_at, request_id)
       where (select true from assay.requests
               where organization_id = (select organization_id from assay.organizations)
                 and requests.created_at = awaited.created_at and requests.request_id = awaited.request_id)`;
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
