/** The cache step of a call: finds a stored response for it, or stores the one that it gets. */

import { isObject } from '#core/json/mod.ts';
import { type ProviderResponse, ResponseBody } from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type CacheOptions, cacheQuery, type ResponseCache, type StoredResponse } from '../cache/mod.ts';
import type { PreparedBody } from '../providers/prepare-request.ts';
import type { Call } from '../request/call.ts';
import type { CallResult } from '../request/record.ts';
import { readCompletion } from './read-completion.ts';
import type { HeaderPairs } from './reply.ts';

export type CacheLookUp = {
  /** The response that the call gets; null: a provider is called. */
  readonly stored: StoredResponse | null;
  /** For every reply to the call. */
  readonly headers: HeaderPairs;
  /**
   * Stores the call's response where it may be stored, and hands it to identical calls that wait for it; to be called
   * once, with how the call ended, or null when it was not made.
   */
  store(result: CallResult | null): void;
};

/** Of a call that does not use the cache. */
export const UNCACHED: CacheLookUp = { stored: null, headers: [], store: () => {} };

/**
 * Looks for the response that is stored for a call, or that an identical call under way gets for it.
 * @throws AssayError client_closed_request when the client leaves meanwhile
 */
export type LookUpCache = (call: Call, request: PreparedBody, options: CacheOptions) => Promise<CacheLookUp>;

const MISS: HeaderPairs = [['service-cache', 'MISS']];
const HIT: HeaderPairs = [['service-cache', 'HIT']];

/** Makes the cache step of calls. */
export function createCacheLookUp(cache: ResponseCache, clock: Pick<Clock, 'now'>): LookUpCache {
  return async (call, { candidate, body }, options) => {
    // The key has what the provider is sent: calls that differ only in what the gateway hides from the client again
    // share a response.
    const query = cacheQuery(options, {
      organizationId: call.caller.organizationId,
      path: call.endpoint.path,
      provider: candidate.provider,
      model: candidate.model,
      body,
    });
    const found = options.isReading ? await cache.find(query) : null;
    if (found !== null) return { stored: found, headers: HIT, store: UNCACHED.store };
    const turn = options.isCoalescing ? await cache.lead(query, call.signal) : null;
    if (turn !== null && !turn.isLeader) return { stored: turn.answer, headers: HIT, store: UNCACHED.store };
    const store = (result: CallResult | null): void => {
      // The response of another model of a list is not one of the first, which later calls are for.
      const answer = result?.candidate === candidate ? storable(call, result, clock.now()) : null;
      if (turn !== null) turn.done(answer);
      else if (answer !== null) cache.store(query, answer);
    };
    return { stored: null, headers: MISS, store };
  };
}

/** Only responses that are whole, successful and not to be forgotten are stored. */
function storable(call: Call, { outcome }: CallResult, nowMs: number): StoredResponse | null {
  if (outcome.truncated || outcome.errorCode !== null || call.headers.omitResponse) return null;
  const { status, contentEncoding, contentType, responseBody } = outcome;
  if (status < 200 || status > 299 || (contentEncoding ?? 'identity') !== 'identity') return null;
  // A response that cannot be read broke off, and some providers report a failure under the status 200. Responses of
  // OpenAI's Responses API say `error: null`.
  const completion = readCompletion(outcome);
  if (!isObject(completion) || (completion.error ?? null) !== null) return null;
  return { requestId: call.id, storedAtMs: nowMs, status, contentType, body: responseBody };
}

/** Returns a stored response in the form of one that its provider sends now. */
export function storedAsResponse({ status, contentType, body }: StoredResponse): ProviderResponse {
  const response = new ResponseBody({ pause: () => {}, resume: () => {}, stop: () => {} });
  response.onData(body);
  response.onEnd();
  return { status, headers: contentType === null ? {} : { 'content-type': contentType }, body: response };
}
