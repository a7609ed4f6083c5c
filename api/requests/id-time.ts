import { ulidTimeMs } from '#platform/process/ids.ts';

const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Reads the time in an id (a ULID or a UUID of version 7), in milliseconds since the epoch; null when the id holds none. */
export function idTimeMs(requestId: string): number | null {
  const uuid = UUID_V7.exec(requestId);
  return uuid === null ? ulidTimeMs(requestId) : Number.parseInt(`${uuid[1]}${uuid[2]}`, 16);
}
