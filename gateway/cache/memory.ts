import { LRUCache } from 'lru-cache';
import type { Bucket } from './bucket.ts';

/** A bucket in memory, and when it was last known to be current, in milliseconds of the monotonic clock. */
export type Remembered = { bucket: Bucket; knownAt: number };

/** The buckets used last, as many as fit. */
export type Memory = {
  get(key: string): Remembered | undefined;
  /** Keeps a bucket, unless it is larger than the whole memory. An empty one is forgotten. */
  set(key: string, remembered: Remembered): void;
};

/** Memory of an entry beside its body: its fields, and its share of the key and the map. */
const ENTRY_BYTES = 500;

function bytesOf({ bucket }: Remembered): number {
  return bucket.reduce((bytes, { response }) => bytes + ENTRY_BYTES + (response?.body.length ?? 0), 0);
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
