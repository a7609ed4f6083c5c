import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of the most recently used, that takes memory as it fills. With lru-cache's own `max` the room for all of them
 * is made at once: of 20,000, up to half a megabyte, and 5 ms of a process's start.
 */
export function createLru<Value extends object>(max: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
