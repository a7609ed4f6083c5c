import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { canonicalJson } from '#core/json/mod.ts';
import type { CacheQuery } from './bucket.ts';
import type { CacheOptions } from './options.ts';

/** What makes two calls the same to the cache. */
export type KeyParts = {
  organizationId: string;
  path: string;
  provider: string;
  /** The model that the call was routed to. */
  model: string;
  /** What the provider is sent: JSON that JSON.parse accepts. */
  body: Buffer;
  /** The caller's, to keep answers apart that are asked for alike; null: none. */
  seed: string | null;
};

/** Goes up whenever the same parts should no longer find what was stored for them. */
const VERSION = 1;

/**
 * The longest body that is compared by value. Reading its values, in whichever order, takes this thread 15 ms at most; of a
 * larger one it would take seconds, and nobody writes such a conversation twice in different ways.
 */
const LARGEST_CANONICAL_BYTES = 256 * 1024;

/**
 * The key of a call's answers: SHA-256 of all parts, in hexadecimal. The order and spacing of the body do not count, nor
 * does how a string or number is written; every difference of value does. A body that is not UTF-8, longer than 256 KiB, or
 * nested deeper than anything real, counts byte by byte.
 * @internal Exported so that tests compare keys of different bodies.
 */
export function responseKey(parts: KeyParts): string {
  const { organizationId, path, provider, model, body, seed } = parts;
  const isCanonical = body.length <= LARGEST_CANONICAL_BYTES && isUtf8(body);
  const canonical = isCanonical ? canonicalJson(body.toString('utf8')) : null;
  const form = canonical === null ? 'bytes' : 'json';
  // As JSON, no part can run into the next, and its end is the first line's.
  const head = `${JSON.stringify([VERSION, form, organizationId, path, provider, model, seed])}\n`;
  if (canonical === null) return createHash('sha256').update(head).update(body).digest('hex');
  return hash('sha256', head + canonical);
}

/** Returns what a call asks of the cache. The key is of the same organization as the query, whoever makes it. */
export function cacheQuery(options: CacheOptions, call: Omit<KeyParts, 'seed'>): CacheQuery {
  const { maxAgeMs, buckets, seed } = options;
  return { organizationId: call.organizationId, key: responseKey({ ...call, seed }), buckets, maxAgeMs };
}
