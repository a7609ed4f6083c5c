/**
 * The sources of a call's response: the providers, each of which is sent the request that was prepared for it, or the response that
 * is stored for one of them.
 */
import { AssayError } from '#core/contracts/errors.ts';
import type { ProviderClient } from '#platform/http-client/mod.ts';
import type { StoredResponse } from '../cache/mod.ts';
import type { PreparedRequest } from '../providers/prepare-request.ts';
import type { Call } from '../request/call.ts';
import type { AttemptLoop, CandidateResponse } from '../routing/mod.ts';
import { CACHE_HIT, type CacheLookUp, storedAsResponse } from './cache-look-up.ts';
import { errorPayloadStatus, findInvalidBody } from './inspect-body.ts';
import type { ResponseSource } from './relay.ts';
import { type HeaderPairs, knownIdHeaders } from './reply.ts';
import { StreamBeginning } from './stream-beginning.ts';
import { translatedResponse } from './translated.ts';

export type SourceOptions = {
  /** Further attempts at each candidate. */
  retries: number;
  /** Finds the response that is stored for a candidate after the first, before that is called; null: there is none. */
  findStored: CacheLookUp['findFallback'];
};

/**
 * Makes the source of a call's response.
 * @param requests one for each candidate, in the same order
 */
export type ProviderSources = (
  call: Call,
  requests: readonly PreparedRequest[],
  options: SourceOptions,
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
  return (call, requests, { retries, findStored }) =>
    async (signal) => {
      let cachedFrom: string | null = null;
      const sendOrFind = async (request: PreparedRequest, left: AbortSignal): Promise<CandidateResponse> => {
        const stored = await findStored(request);
        if (stored === null) return sendPrepared(call, request, client, left);
        cachedFrom = stored.requestId;
        return { response: storedAsResponse(stored), countsAs: stored.status, isStored: true };
      };
      const { index, attempts, result } = await attemptLoop(
        {
          candidates: call.candidates,
          retries,
          // The first was looked for before.
          send: (at, left) =>
            at === 0 ? sendPrepared(call, requests[0]!, client, left) : sendOrFind(requests[at]!, left),
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
      if (result instanceof AssayError || cachedFrom === null)
        return { candidate, hidesUsage, attempts, cachedFrom: null, headers, result };
      return { candidate, hidesUsage, attempts, cachedFrom, headers: [...headers, ...CACHE_HIT], result };
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
  if (translation === null) return { response, countsAs, isStored: false };
  const created = Math.floor(call.createdAtMs / 1_000);
  const answered = { ...response, status: countsAs };
  const translated = translatedResponse(answered, { translation, label, created });
  return { response: translated, countsAs, isStored: false };
}

/** Makes the source of a call that gets the response stored for its first candidate. */
export function fromCache(call: Call, request: PreparedRequest, stored: StoredResponse): ResponseSource {
  const { candidate, hidesUsage } = request;
  const { requestId: cachedFrom } = stored;
  const headers = replyHeaders(call, 0, request);
  return async () => {
    return { candidate, hidesUsage, attempts: [], cachedFrom, headers, result: storedAsResponse(stored) };
  };
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
