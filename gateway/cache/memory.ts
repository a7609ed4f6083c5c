import { LRUCache } from 'lru-cache';
import type { Bucket } from './bucket.ts';

/** A bucket in memory, and since when it is known to be so, on the monotonic clock. */
export type Remembered = { bucket: Bucket; knownAt: number };

/** The buckets used last, as many as fit. */
export type Memory = {
  get(key: string): Remembered | undefined;
  /** One that is larger than the whole memory is not kept. */
  set(key: string, remembered: Remembered): void;
};

/** What an answer takes beside its body: its fields, and its share of the key and the map. */
const ANSWER_BYTES = 500;

function bytesOf({ bucket }: Remembered): number {
  return bucket.reduce((bytes, { answer }) => bytes + ANSWER_BYTES + (answer?.body.length ?? 0), 0);
}

/** Makes a memory that holds `maxBytes` at most. */
export function createMemory(maxBytes: number): Memory {
  const buckets = new LRUCache<string, Remembered>({ maxSize: maxBytes, sizeCalculation: bytesOf });
  return {
    get: (key) => buckets.get(key),
    set: (key, remembered) => {
      if (remembered.bucket.length === 0) buckets.delete(key);
      else buckets.set(key, remembered);
    },
  };
}
