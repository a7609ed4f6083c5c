/** The responses of one key, newest first: chooses one for a call, and makes room for another. Pure. */

/** A provider's complete response. */
export type StoredResponse = {
  /** The request that it answered. */
  requestId: string;
  /** Milliseconds since the epoch. */
  storedAtMs: number;
  /** 200 to 299. */
  status: number;
  contentType: string | null;
  /** The provider's body, without content-encoding. */
  body: Buffer;
};

/** A call's question to the cache. */
export type CacheQuery = {
  organizationId: string;
  /** See `responseKey`. */
  key: string;
  /** Responses of the key that the call wants kept, 1 to 20. */
  bucketSize: number;
  maxAgeMs: number;
};

/** A stored response that this process knows of; its body is in memory or only in Postgres. */
export type BucketEntry = {
  requestId: string;
  storedAtMs: number;
  /** Its end for every call: the max-age of the call that stored it. */
  expiresAtMs: number;
  /** null: only in Postgres. */
  response: StoredResponse | null;
};

export type Bucket = readonly BucketEntry[];

/** Sorts the newest first; responses of one millisecond are ordered by id, the same in every process. */
function byAge(a: BucketEntry, b: BucketEntry): number {
  return b.storedAtMs - a.storedAtMs || (a.requestId < b.requestId ? 1 : -1);
}

/**
 * The most that an entry can be ahead of a gateway's clock: one that is further ahead was stored while a clock was wrong, and
 * would be young for as long as that was.
 */
export const MAX_AHEAD_MS = 60_000;

/**
 * Returns the position, from the newest, that a random draw chooses among the responses that a call wants kept.
 * @param draw in [0, 1)
 */
export function drawPosition(query: CacheQuery, draw: number): number {
  return Math.floor(draw * query.bucketSize);
}

/**
 * Returns the entry at a position among those young enough for the call. Null while these are fewer than the call wants
 * kept: the call then adds one.
 */
export function chooseEntry(
  bucket: Bucket,
  query: CacheQuery,
  position: number,
  nowMs: number,
): BucketEntry | null {
  const young = bucket.filter(
    ({ storedAtMs, expiresAtMs }) =>
      expiresAtMs > nowMs && storedAtMs + query.maxAgeMs > nowMs && storedAtMs <= nowMs + MAX_AHEAD_MS,
  );
  return young.length < query.bucketSize ? null : (young[position] ?? null);
}

/** Returns the bucket with another entry, made now. Only the newest `bucketSize` stay. */
export function withEntry(bucket: Bucket, added: BucketEntry, bucketSize: number): Bucket {
  const others = bucket.filter(
    ({ requestId, storedAtMs }) =>
      requestId !== added.requestId && storedAtMs <= added.storedAtMs + MAX_AHEAD_MS,
  );
  return [...others, added].sort(byAge).slice(0, bucketSize);
}

/** Returns a bucket from Postgres with the entries of memory that are not written to Postgres yet. */
export function withUnwritten(
  bucket: Bucket,
  known: Bucket,
  unwritten: ReadonlySet<StoredResponse>,
  bucketSize: number,
): Bucket {
  const missing = known.filter(({ response }) => response !== null && unwritten.has(response));
  return missing.reduce((whole, item) => withEntry(whole, item, bucketSize), bucket);
}

/** Returns a bucket from Postgres with the bodies that are in memory already. */
export function withBodiesOf(bucket: Bucket, known: Bucket): Bucket {
  return bucket.map((item) => {
    const held = known.find(({ requestId }) => requestId === item.requestId);
    return item.response === null && held !== undefined ? held : item;
  });
}
