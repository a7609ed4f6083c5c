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
  /** The headers that change what the provider answers, in the form of `answerHeaders`; empty: none. */
  headers: readonly string[];
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
  const { organizationId, path, provider, model, body, headers, seed } = parts;
  const isCanonical = body.length <= LARGEST_CANONICAL_BYTES && isUtf8(body);
  const canonical = isCanonical ? canonicalJson(body.toString('utf8')) : null;
  const form = canonical === null ? 'bytes' : 'json';
  // As JSON, no part can run into the next, and the head ends with the first line.
  const given = [VERSION, form, organizationId, path, provider, model, seed];
  // Most calls have no such header, and the keys of old.
  const head = `${JSON.stringify(headers.length === 0 ? given : [...given, headers])}\n`;
  if (canonical === null) return createHash('sha256').update(head).update(body).digest('hex');
  return hash('sha256', head + canonical);
}

/** The version of the provider's API, and the features in test that it is asked for: they change what it answers. */
const ANSWER_HEADERS: ReadonlySet<string> = new Set(['anthropic-beta', 'anthropic-version', 'openai-beta']);

/**
 * Returns the headers that change what a provider answers, one for each value: the order of values does not count, nor
 * whether they come in one line.
 * @param given flat list of names in lower case and values that the provider is sent for this call
 * @param usual the same for every call that names none: to name these changes nothing
 */
export function answerHeaders(given: readonly string[], usual: readonly string[]): string[] {
  const values = new Set<string>();
  for (let index = 0; index < given.length; index += 2) {
    const name = given[index]!;
    if (!ANSWER_HEADERS.has(name)) continue;
    const isUsual = (value: string) => usual[usual.indexOf(name) + 1] === value && usual.includes(name);
    for (const value of given[index + 1]!.split(',').map((part) => part.trim()))
      if (value !== '' && !isUsual(value)) values.add(`${name}: ${value}`);
  }
  return [...values].sort();
}

/** Makes the query of a call. Its key always contains its organization. */
export function cacheQuery(options: CacheOptions, call: Omit<KeyParts, 'seed'>): CacheQuery {
  const { maxAgeMs, bucketSize, seed } = options;
  return { organizationId: call.organizationId, key: responseKey({ ...call, seed }), bucketSize, maxAgeMs };
}
