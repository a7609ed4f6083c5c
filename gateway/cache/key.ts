import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { canonicalJson } from '#core/json/mod.ts';
import type { CacheQuery } from './bucket.ts';
import type { CacheOptions } from './options.ts';

/** The parts of a call that make it the same as another to the cache. */
export type KeyParts = {
  organizationId: string;
  path: string;
  provider: string;
  /** The model that the call was routed to. */
  model: string;
  /** The body of the provider request: JSON that JSON.parse accepts. */
  body: Buffer;
  /** Chosen by the caller, to keep the responses to equal requests apart; null: none. */
  seed: string | null;
};

/** To be raised when the same parts should no longer find the responses that were stored for them. */
const VERSION = 1;

/**
 * The longest body that is compared by value. Reading its values takes this thread 15 ms at most. Reading those of a larger
 * one could take seconds, and no client writes such a conversation twice in different ways.
 */
const LARGEST_CANONICAL_BYTES = 256 * 1024;

/**
 * Returns the key of a call's responses: SHA-256 of all parts, in hexadecimal. The order of members, white space, and the
 * spelling of strings and numbers in the body do not count; every difference of value does. A body that is not UTF-8,
 * longer than 256 KiB, or nested deeper than `canonicalJson` reads, counts byte by byte.
 * @internal Exported so that tests compare keys of different bodies.
 */
export function responseKey(parts: KeyParts): string {
  const { organizationId, path, provider, model, body, seed } = parts;
  const isCanonical = body.length <= LARGEST_CANONICAL_BYTES && isUtf8(body);
  const canonical = isCanonical ? canonicalJson(body.toString('utf8')) : null;
  const form = canonical === null ? 'bytes' : 'json';
  // As JSON, no part can run into the next, and the head ends with the first line.
  const head = `${JSON.stringify([VERSION, form, organizationId, path, provider, model, seed])}\n`;
  if (canonical === null) return createHash('sha256').update(head).update(body).digest('hex');
  return hash('sha256', head + canonical);
}

/** Makes the query of a call. Its key always contains its organization. */
export function cacheQuery(options: CacheOptions, call: Omit<KeyParts, 'seed'>): CacheQuery {
  const { maxAgeMs, buckets, seed } = options;
  return { organizationId: call.organizationId, key: responseKey({ ...call, seed }), buckets, maxAgeMs };
}
