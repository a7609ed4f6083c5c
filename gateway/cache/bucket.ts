/** The answers of one key, newest first: which of them a caller may get, and which stay when another comes. Pure. */

/** A provider's complete answer. */
export type StoredResponse = {
  /** The request whose answer it was. */
  requestId: string;
  /** Milliseconds since the epoch. */
  storedAtMs: number;
  /** 200 to 299. */
  status: number;
  contentType: string | null;
  /** What the provider sent, without content-encoding. */
  body: Buffer;
};

/** What a caller asks of the cache. */
export type CacheQuery = {
  organizationId: string;
  /** See `responseKey`. */
  key: string;
  /** 1 to 20. */
  buckets: number;
  maxAgeMs: number;
};

/** An answer that is there, in memory or only in Postgres. */
export type KnownAnswer = {
  requestId: string;
  storedAtMs: number;
  /** It counts for nobody from then on: the max-age of the call that stored it. */
  expiresAtMs: number;
  /** null: not in memory. */
  answer: StoredResponse | null;
};

export type Bucket = readonly KnownAnswer[];

/** Newest first; answers of one millisecond in some order, the same everywhere. */
function byAge(a: KnownAnswer, b: KnownAnswer): number {
  return b.storedAtMs - a.storedAtMs || (a.requestId < b.requestId ? 1 : -1);
}

/**
 * The place, from the newest, of the answer that a draw chooses among as many as the caller keeps.
 * @param draw in [0, 1)
 */
export function drawPlace(ask: CacheQuery, draw: number): number {
  return Math.floor(draw * ask.buckets);
}

/**
 * The answer at this place of those that are young enough for the caller; null as long as these are fewer than it wants
 * kept: its call makes another.
 */
export function chooseAnswer(
  bucket: Bucket,
  ask: CacheQuery,
  place: number,
  nowMs: number,
): KnownAnswer | null {
  const young = bucket.filter(
    ({ storedAtMs, expiresAtMs }) => expiresAtMs > nowMs && storedAtMs + ask.maxAgeMs > nowMs,
  );
  return young.length < ask.buckets ? null : (young[place] ?? null);
}

/** The bucket with another answer in it. As many stay as its caller keeps; the oldest go. */
export function withAnswer(bucket: Bucket, added: KnownAnswer, buckets: number): Bucket {
  const others = bucket.filter(({ requestId }) => requestId !== added.requestId);
  return [...others, added].sort(byAge).slice(0, buckets);
}

/** A bucket as Postgres has it, with what this process knows and Postgres has not been told yet. */
export function withUnwritten(
  bucket: Bucket,
  known: Bucket,
  unwritten: ReadonlySet<StoredResponse>,
  buckets: number,
): Bucket {
  const missing = known.filter(({ answer }) => answer !== null && unwritten.has(answer));
  return missing.reduce((whole, item) => withAnswer(whole, item, buckets), bucket);
}

/** A bucket as Postgres has it, with the bodies that are in memory already. */
export function withBodiesOf(bucket: Bucket, known: Bucket): Bucket {
  return bucket.map((item) => {
    const held = known.find(({ requestId }) => requestId === item.requestId);
    return item.answer === null && held !== undefined ? held : item;
  });
}
