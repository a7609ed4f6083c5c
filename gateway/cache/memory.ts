/** The part of the cache in memory. */
import { LRUCache } from 'lru-cache';
import type { Bucket } from './bucket.ts';

/** A bucket in memory, and when it was last known to be current, in milliseconds of the monotonic clock. */
export type Remembered = { bucket: Bucket; knownAt: number };

/** The buckets used last, as many as fit. */
export type Memory = {
  get(key: string): Remembered | undefined;
  /** Keeps a bucket, unless it is larger than the whole memory. An empty one is forgotten. */
  set(key: string, remembered: Remembered): void;
  /** Forgets the buckets that hold a response to one of these requests. */
  forgetRequests(requestIds: Iterable<string>): void;
};

/** Memory of an entry beside its body: its fields, and its share of the key and the map. */
const ENTRY_BYTES = 500;

function bytesOf({ bucket }: Remembered): number {
  return bucket.reduce((bytes, { response }) => bytes + ENTRY_BYTES + (response?.body.length ?? 0), 0);
}

/** Makes a memory that holds `maxBytes` at most. */
export function createMemory(maxBytes: number): Memory {
  /** The keys of the buckets that hold a response to each request: several, where two organizations chose one id. */
  const keysOfRequests = new Map<string, Set<string>>();
  const buckets = new LRUCache<string, Remembered>({
    maxSize: maxBytes,
    sizeCalculation: bytesOf,
    dispose: ({ bucket }, key) => {
      for (const { requestId } of bucket) {
        const keys = keysOfRequests.get(requestId);
        if (keys?.delete(key) === true && keys.size === 0) keysOfRequests.delete(requestId);
      }
    },
  });
  return {
    get: (key) => buckets.get(key),
    set: (key, remembered) => {
      buckets.delete(key);
      if (remembered.bucket.length === 0) return;
      buckets.set(key, remembered);
      if (!buckets.has(key)) return;
      for (const { requestId } of remembered.bucket) {
        const keys = keysOfRequests.get(requestId);
        if (keys === undefined) keysOfRequests.set(requestId, new Set([key]));
        else keys.add(key);
      }
    },
    forgetRequests: (requestIds) => {
      for (const requestId of requestIds) {
        for (const key of [...(keysOfRequests.get(requestId) ?? [])]) buckets.delete(key);
      }
    },
  };
}
