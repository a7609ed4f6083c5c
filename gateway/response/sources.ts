/** The two sources of a call's response: the cache, and the candidates, each sent the request that was prepared for it. */
import { AssayError } from '#core/contracts/errors.ts';
import { type ProviderClient, type ProviderResponse, ResponseBody } from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import {
  answerHeaders,
  type CacheOptions,
  cacheQuery,
  LARGEST_STORED_BYTES,
  type ResponseCache,
  type StoredResponse,
} from '../cache/mod.ts';
import type { PreparedBody, PreparedRequest } from '../providers/prepare-request.ts';
import type { Call, Outcome } from '../request/call.ts';
import type { CallResult } from '../request/record.ts';
import type { AttemptLoop, CandidateResponse } from '../routing/mod.ts';
import { errorPayloadStatus, findInvalidBody } from './inspect-body.ts';
import { isClear, readCompletion } from './read-completion.ts';
import type { ResponseSource } from './relay.ts';
import { type HeaderPairs, knownIdHeaders } from './reply.ts';
import { StreamBeginning } from './stream-beginning.ts';
import { translatedResponse } from './translated.ts';

/**
 * Makes the source of a call's response.
 * @param requests one for each candidate, in the same order
 * @param retries how often each candidate is tried again
 */
export type ProviderSources = (
  call: Call,
  requests: readonly PreparedRequest[],
  retries: number,
) => ResponseSource;

/**
 * @param maxHeldBytes of a response that is larger the beginning is passed on before its end is there
 * @param now milliseconds on the monotonic clock
 */
export function createProviderSources(
  client: Pick<ProviderClient, 'send'>,
  attemptLoop: AttemptLoop,
  { maxHeldBytes, now }: { maxHeldBytes: number; now(): number },
): ProviderSources {
  return (call, requests, retries) => async (signal) => {
    const { index, attempts, result } = await attemptLoop(
      {
        candidates: call.candidates,
        retries,
        send: (at, left) => sendPrepared(call, requests[at]!, client, left),
        refuse: ({ row }, response, body) => findInvalidBody(response, body, row.label),
        watch: (response) => new StreamBeginning(response, now),
        maxHeldBytes,
      },
      signal,
    );
    // The record of a call whose client left names the first candidate.
    const hasLeft = result instanceof AssayError && result.code === 'client_closed_request';
    const { candidate, hidesUsage } = requests[hasLeft ? 0 : index]!;
    const headers = replyHeaders(call, index, requests[index]!);
    return { candidate, hidesUsage, attempts, headers, result };
  };
}

/** Sends a prepared request, and has its response translated into the dialect of the endpoint that was called. */
async function sendPrepared(
  call: Call,
  { candidate, path, headers, body, translation }: PreparedRequest,
  client: Pick<ProviderClient, 'send'>,
  signal: AbortSignal,
): Promise<CandidateResponse> {
  const { label } = candidate.row;
  const { organizationId } = call.caller;
  const response = await client.send(
    { label, organizationId, origin: candidate.origin, path, headers, body },
    signal,
  );
  const counted = errorPayloadStatus(response, signal);
  // A promise only while it is not known yet.
  const countsAs = typeof counted === 'number' ? counted : await counted;
  if (translation === null) return { response, countsAs };
  const created = Math.floor(call.createdAtMs / 1_000);
  const answered = { ...response, status: countsAs };
  return { response: translatedResponse(answered, { translation, label, created }), countsAs };
}

/** Returns the headers of a reply that tell of the candidate that responded. */
function replyHeaders(call: Call, index: number, { candidate }: PreparedRequest): HeaderPairs {
  const headers = knownIdHeaders(call.id, call.endpoint.errors);
  if (call.candidates.length > 1) headers.push(['service-fallback-index', String(index)]);
  if (candidate.model !== call.body.model)
    headers.push(['service-routed-model', headerText(`${candidate.provider}/${candidate.model}`)]);
  return headers;
}

/** Clients may name a model by any text, and a header holds visible ASCII: all else is percent-encoded. */
function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

export type CacheLookUp = {
  /** The response that the call gets; null: a provider is called. */
  readonly stored: StoredResponse | null;
  /** For every reply to the call. */
  readonly headers: HeaderPairs;
  /** Returns whether `store` reads the completion in a response. */
  reads(result: CallResult): boolean;
  /**
   * Stores the call's response where it may be stored, and hands it to identical calls that wait for it; to be called
   * once, with how the call ended, or null when it was not made.
   */
  store(result: CallResult | null): void;
};

/** The look-up of a call that does not use the cache. */
export const UNCACHED: CacheLookUp = { stored: null, headers: [], reads: () => false, store: () => {} };

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
      headers: answerHeaders(call.headers.forwardedTo[candidate.row.dialect], candidate.row.headers),
    });
    const found = options.isReading ? await cache.find(query) : null;
    if (found !== null) return { ...UNCACHED, stored: found, headers: HIT };
    const turn = options.isCoalescing ? await cache.lead(query, call.signal) : null;
    if (turn !== null && !turn.isLeader) return { ...UNCACHED, stored: turn.answer, headers: HIT };
    // The response of another model of a list is not one of the first, which later calls are for.
    const reads = (result: CallResult): boolean =>
      result.candidate === candidate &&
      isStorable(call, result.outcome) &&
      // Calls that wait for a response get it of any size.
      (turn !== null || result.outcome.responseBody.length <= LARGEST_STORED_BYTES);
    const store = (result: CallResult | null): void => {
      let answer: StoredResponse | null = null;
      try {
        if (result !== null && reads(result) && isCompletion(result.outcome))
          answer = storedResponse(call, result.outcome, clock.now());
      } finally {
        if (turn !== null) turn.done(answer);
        else if (answer !== null) cache.store(query, answer);
      }
    };
    return { stored: null, headers: MISS, reads, store };
  };
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
