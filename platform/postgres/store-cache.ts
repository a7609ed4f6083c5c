/** A cache of values from Postgres that is told of their changes. */
import { LRUCache } from 'lru-cache';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { Clock } from '../process/clock.ts';
import { createLru } from '../process/lru.ts';
import { createAvailability, StoreLateError } from './availability.ts';
import { isPassing } from './connect.ts';

/**
 * Caches values from Postgres in a process that listens to their changes. Values are fresh only while it listens, so that a
 * change takes effect everywhere at once. While Postgres is away, known values are used for up to an hour.
 */
export type StoreCache<Input, Value> = {
  /**
   * Returns the value of `id`: at once if it is fresh, else from Postgres.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and the value is not known
   */
  find(id: string, input: Input): Value | Promise<Value>;
  /** Drops values that have changed: they are not used any more, even while Postgres is away. */
  forget(isChanged: (id: string, value: Value) => boolean): void;
  /** Makes every value stale: it is loaded again, and used only while Postgres is away. */
  revalidate(): void;
  /** Notes that changes are received from now on. */
  onListening(): void;
  /** Notes that changes are not received until `onListening` is called again. */
  onLost(): void;
};

export type StoreCacheOptions<Input, Value> = {
  clock: Clock;
  /**
   * Loads a value from Postgres. Null means that there is none, and is never cached: a new key must work at once, and its
   * notification may be late or lost. Made-up ids cost a look-up each, of which a bounded number is under way.
   */
  load(input: Input): Promise<Value>;
  /** Values in the cache; an evicted one is loaded again. */
  max: number;
  /** Bounds the sum of the values' sizes as well, in bytes; absent: values are small. */
  size?: { max: number; of(value: Value): number };
  /** Look-ups at a time; more are refused. Default: 500, for look-ups that each take a statement. */
  maxLookups?: number;
  /** The error sentence while Postgres is away. */
  failure: string;
};

/**
 * Age up to which a value is fresh, in case a notification is lost on a connection whose ends do not know that it is dead.
 */
const FRESH_MS = 30_000;
/** Age up to which a value is used while Postgres is away: longer than a failover, shorter than a working day. */
const MAX_STALE_MS = 3_600_000;
/** Time after a failed look-up in which known values are used without another: an outage must not slow every call. */
const PAUSE_MS = 1_000;
/** Longest wait of a call for Postgres if it can use a stale value instead. */
const WAIT_WITH_VALUE_MS = 1_000;
/** Longest wait of a call without a stale value, which fails afterwards. */
const WAIT_WITHOUT_VALUE_MS = 5_000;
/** Look-ups at a time: a flood of made-up ids must not pile up behind the pool of connections. */
const MAX_LOOKUPS = 500;

type Known<Value> = { value: Value; verifiedAt: number };

/** Creates an empty cache, for a process that does not listen yet. */
export function createStoreCache<Input, Value>(
  options: StoreCacheOptions<Input, Value>,
): StoreCache<Input, Value> {
  const { clock, load, max, size, maxLookups = MAX_LOOKUPS, failure } = options;
  const known =
    size === undefined
      ? createLru<Known<Value>>(max)
      : new LRUCache<string, Known<Value>>({
          max,
          maxSize: size.max,
          sizeCalculation: ({ value }) => size.of(value),
        });
  const lookups = new Map<string, Promise<Value>>();
  const store = createAvailability({
    clock,
    patienceMs: WAIT_WITHOUT_VALUE_MS,
    recovery: { pauseMs: PAUSE_MS },
  });
  let isListening = false;
  /** Changes before this moment may have been missed: older values are loaded again. */
  let freshSince = 0;
  /** Counts changes: a value whose look-up began before a change must not be cached after it. */
  let generation = 0;

  const unavailable = (cause: unknown) =>
    new AssayError('store_unavailable', failure, {
      cause,
      detail: describeError(cause),
    });

  /** Detaches the look-ups under way: their results may be older than the change. */
  const beginAnew = () => {
    generation += 1;
    lookups.clear();
  };

  /** Makes values stale and keeps them, for use while Postgres is away. */
  const revalidate = () => {
    beginAnew();
    freshSince = clock.monotonic();
  };

  async function ask(id: string, input: Input): Promise<Value> {
    const askedIn = generation;
    const verifiedAt = clock.monotonic();
    const value = await load(input);
    if (askedIn !== generation) return value;
    if (value === null) known.delete(id);
    else known.set(id, { value, verifiedAt });
    return value;
  }

  /** Shares one look-up of an id among all calls that wait for it. */
  async function lookUp(id: string, input: Input): Promise<Value> {
    const running = lookups.get(id);
    if (running === undefined) return await begin(id, input);
    const value = await running;
    if (value !== null) return value;
    // The value may have been created after that look-up began and before this call.
    return await (lookups.get(id) ?? begin(id, input));
  }

  function begin(id: string, input: Input): Promise<Value> {
    if (lookups.size >= maxLookups) return Promise.reject(unavailable(new Error('too many look-ups')));
    const lookup = ask(id, input).finally(() => {
      if (lookups.get(id) === lookup) lookups.delete(id);
    });
    lookups.set(id, lookup);
    return lookup;
  }

  async function findStored(id: string, input: Input, before: Known<Value> | undefined): Promise<Value> {
    try {
      const patienceMs = before === undefined ? WAIT_WITHOUT_VALUE_MS : WAIT_WITH_VALUE_MS;
      return await store.attempt(() => lookUp(id, input), { patienceMs });
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (before !== undefined) return before.value;
      throw error instanceof AssayError && !(error instanceof StoreLateError) ? error : unavailable(error);
    }
  }

  function find(id: string, input: Input): Value | Promise<Value> {
    const now = clock.monotonic();
    let before = known.get(id);
    if (before !== undefined) {
      const age = now - before.verifiedAt;
      if (isListening && before.verifiedAt >= freshSince && age < FRESH_MS) return before.value;
      if (age > MAX_STALE_MS) before = undefined;
      else if (store.isAway()) return before.value;
    }
    return findStored(id, input, before);
  }

  return {
    find,
    revalidate,
    forget: (isChanged) => {
      beginAnew();
      for (const [id, { value }] of known.entries()) if (isChanged(id, value)) known.delete(id);
    },
    onListening: () => {
      revalidate();
      isListening = true;
      store.reset();
    },
    onLost: () => {
      isListening = false;
    },
  };
}
