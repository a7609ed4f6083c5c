/** The room that bodies take on disk: as they came in, and after ingest has compressed them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#platform/postgres/mod.ts';

/** Room of both tables of bodies, with their indexes, as a share of the bodies' own bytes; and how long it took, in seconds. */
export type Disk = {
  before: number;
  after: number;
  /** Until every body was compressed. */
  compressedAfter: number;
  /** Until the room of the fresh bodies was given back, which autovacuum does. */
  givenBackAfter: number;
};

const LOOK_EVERY_MS = 500;
const GIVE_UP_MS = 15 * 60_000;
/** Indexes keep their pages, for entries to come: of bodies, one entry for each 2 KB. */
const KEPT_SHARE = 0.05;

type Room = { raw: number; fresh: number; compressed: number; isFresh: boolean };

async function readRoom(sql: Sql): Promise<Room> {
  const [row] = await sql<Room[]>`
    select (select sum(octet_length(request_text) + octet_length(response_text))::float8 from assay.bodies) as raw,
           pg_total_relation_size('assay.fresh_bodies')::float8 as fresh,
           (select sum(pg_total_relation_size(inhrelid))::float8 from pg_inherits
             where inhparent = 'assay.request_bodies'::regclass) as compressed,
           exists (select from assay.fresh_bodies) as "isFresh"`;
  return row!;
}

/** Waits until no body is fresh any more and their room is given back. */
export async function measureDisk(sql: Sql): Promise<Disk> {
  const beganAt = performance.now();
  const seconds = () => (performance.now() - beganAt) / 1_000;
  const share = ({ raw, fresh, compressed }: Room) => (fresh + compressed) / raw;
  let room = await readRoom(sql);
  const before = share(room);
  let compressedAfter: number | null = null;
  while (room.isFresh || room.fresh > KEPT_SHARE * room.raw) {
    if (!room.isFresh) compressedAfter ??= seconds();
    if (performance.now() - beganAt > GIVE_UP_MS)
      throw new Error(`Bodies still take ${room.fresh} bytes that are not compressed`);
    await sleep(LOOK_EVERY_MS);
    room = await readRoom(sql);
  }
  return {
    before,
    after: share(room),
    compressedAfter: compressedAfter ?? seconds(),
    givenBackAfter: seconds(),
  };
}
