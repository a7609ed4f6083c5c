/** Memory for the large request bodies of all calls under way, fairly among organizations. */
import type { Metrics } from '../observability/metrics.ts';
import { FairSlots } from '../process/fair-slots.ts';

export type BodyRoomOptions = {
  /** For all bodies together. */
  bytes: number;
  /** The largest body. */
  maxBodyBytes: number;
};

/** Shorter than the patience of clients, longer than a burst of large bodies takes to pass. */
const PATIENCE_MS = 30_000;
/** A waiting body takes up to 192 KiB: the beginning that was read, and what its paused socket has read ahead. */
const MAX_WAITING = 4_096;
const MAX_WAITING_OF_ONE = 2_048;
/** Bodies beyond the bound, of organizations that have no other. */
const SPARE_BODIES = 4;

/** Makes the room, a slot for each byte. One organization has at most half; one that has nothing gets in beyond the bound. */
export function createBodySlots({ bytes, maxBodyBytes }: BodyRoomOptions): FairSlots {
  const count = Math.max(bytes, 2 * maxBodyBytes);
  return new FairSlots({
    count,
    ofOne: Math.floor(count / 2),
    spare: SPARE_BODIES * maxBodyBytes,
    maxWaiting: MAX_WAITING,
    maxWaitingOfOne: MAX_WAITING_OF_ONE,
    patienceMs: PATIENCE_MS,
  });
}

/** Registers how much of the room is taken. */
export function watchBodies(metrics: Metrics, slots: Pick<FairSlots, 'running' | 'waiting'>): void {
  metrics.readOnDemand(
    'http_bodies_bytes',
    'Bytes of request bodies of more than 64 KiB that have room in memory',
    () => slots.running,
  );
  metrics.readOnDemand(
    'http_bodies_waiting',
    'Request bodies that wait for room in memory',
    () => slots.waiting,
  );
}
