/** The cache as the source of a call's response: the look-up before the call, and storing what the call got after it. */
import { type ProviderResponse, ResponseBody } from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import {
  answerHeaders,
  type CacheOptions,
  type CacheQuery,
  cacheQuery,
  LARGEST_STORED_BYTES,
  type ResponseCache,
  type StoredResponse,
} from '../cache/mod.ts';
import type { PreparedBody } from '../providers/prepare-request.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { Call, Outcome } from '../request/call.ts';
import type { CallResult } from '../request/record.ts';
import { isClear, readCompletion } from './read-completion.ts';
import type { HeaderPairs } from './reply.ts';

export type CacheLookUp = {
  /** The response that the call gets; null: a provider is called. */
  readonly stored: StoredResponse | null;
  /** For every reply to the call. */
  readonly headers: HeaderPairs;
  /**
   * Returns the response that is stored for a candidate after the first, which is about to be called; null: there is none, the
   * candidate was looked for before, or the call does not read the cache. From then on `store` stores the response of that candidate. Never rejects.
   */
  findFallback(request: PreparedBody): Promise<StoredResponse | null>;
  /** Returns whether `store` reads the completion in a response. */
  reads(result: CallResult): boolean;
  /**
   * Stores the call's response where it may be stored, and hands it to identical calls that wait for it; to be called
   * once, with how the call ended, or null when it was not made.
   */
  store(result: CallResult | null): void;
};

/** The look-up of a call that does not use the cache. */
export const UNCACHED: CacheLookUp = {
  stored: null,
  headers: [],
  findFallback: async () => null,
  reads: () => false,
  store: () => {},
};

/**
 * Looks for the response that is stored for a call, or that an identical call under way gets for it.
 * @throws AssayError client_closed_request when the client leaves meanwhile
 */
export type LookUpCache = (call: Call, request: PreparedBody, options: CacheOptions) => Promise<CacheLookUp>;

const MISS: HeaderPairs = [['service-cache', 'MISS']];
/** For the reply that is a stored response. */
export const CACHE_HIT: HeaderPairs = [['service-cache', 'HIT']];

/** Makes the cache step of calls. */
export function createCacheLookUp(cache: ResponseCache, clock: Pick<Clock, 'now'>): LookUpCache {
  return async (call, request, options) => {
    const { candidate } = request;
    const query = queryOf(call, request, options);
    // Each response is stored as that of the model that gave it. That of a fallback is none of the first model's, which
    // would be given for days after the first model is well again.
    const queries = new Map([[candidate, query]]);
    const found = options.isReading ? await cache.find(query) : null;
    if (found !== null) return { ...UNCACHED, stored: found, headers: CACHE_HIT };
    const role = options.isCoalescing ? await cache.coalesce(query, call.signal) : null;
    if (role !== null && !role.isLeader) return { ...UNCACHED, stored: role.response, headers: CACHE_HIT };
    const findFallback = async (fallback: PreparedBody): Promise<StoredResponse | null> => {
      // Retries come at once: to look again would make a key and read Postgres each time, and find nothing.
      if (queries.has(fallback.candidate)) return null;
      const fallbackQuery = queryOf(call, fallback, options);
      queries.set(fallback.candidate, fallbackQuery);
      return options.isReading ? await cache.find(fallbackQuery) : null;
    };
    /** Returns whether identical calls wait for the response of a candidate: they may list other models after the first. */
    const isAwaited = (by: Candidate): boolean => role !== null && by === candidate;
    const reads = (result: CallResult): boolean =>
      result.cachedFrom === null &&
      queries.has(result.candidate) &&
      isStorable(call, result.outcome) &&
      // Calls that wait for a response get it of any size.
      (isAwaited(result.candidate) || result.outcome.responseBody.length <= LARGEST_STORED_BYTES);
    const store = (result: CallResult | null): void => {
      let awaited: StoredResponse | null = null;
      try {
        if (result === null || !reads(result) || !isCompletion(result.outcome)) return;
        const response = storedResponse(call, result.outcome, clock.now());
        if (isAwaited(result.candidate)) awaited = response;
        else cache.store(queries.get(result.candidate)!, response);
      } finally {
        role?.done(awaited);
      }
    };
    return { stored: null, headers: MISS, findFallback, reads, store };
  };
}

/**
 * Makes the query for a candidate's response. The key has what the provider is sent: calls that differ only in what the
 * gateway hides from the client again share a response, and so do calls to a model and calls that fall back to it.
 */
function queryOf(call: Call, { candidate, body }: PreparedBody, options: CacheOptions): CacheQuery {
  return cacheQuery(options, {
    organizationId: call.caller.organizationId,
    path: call.endpoint.path,
    provider: candidate.provider,
    model: candidate.model,
    body,
    headers: answerHeaders(call.headers.forwardedTo[candidate.row.dialect], candidate.row.headers),
  });
}

/** Only responses that are whole, successful and not to be forgotten are stored. */
function isStorable(call: Call, { truncated, errorCode, status, contentEncoding }: Outcome): boolean {
  if (truncated || errorCode !== null || call.headers.omitResponse) return false;
  return status >= 200 && status <= 299 && isClear(contentEncoding);
}

/**
 * Returns whether a response is an object without an error. One that cannot be read broke off, and some providers report a
 * failure under the status 200. Responses of OpenAI's Responses API say `error: null`.
 */
function isCompletion(outcome: Outcome): boolean {
  const completion = readCompletion(outcome);
  return completion !== null && (completion.error ?? null) === null;
}

function storedResponse(call: Call, outcome: Outcome, storedAtMs: number): StoredResponse {
  const { status, contentType, responseBody } = outcome;
  return { requestId: call.id, storedAtMs, status, contentType, body: responseBody };
}

/** Returns a stored response in the form of one that its provider sends now. */
export function storedAsResponse({ status, contentType, body }: StoredResponse): ProviderResponse {
  const response = new ResponseBody({ pause: () => {}, resume: () => {}, stop: () => {} });
  response.onData(body);
  response.onEnd();
  return { status, headers: contentType === null ? {} : { 'content-type': contentType }, body: response };
}
