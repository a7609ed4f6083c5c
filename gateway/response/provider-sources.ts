/** The providers as the source of a call's response: each candidate is sent the request that was prepared for it. */
import { AssayError } from '#core/contracts/errors.ts';
import type { ProviderClient } from '#platform/http-client/mod.ts';
import type { PreparedRequest } from '../providers/prepare-request.ts';
import type { Call } from '../request/call.ts';
import type { AttemptLoop, CandidateResponse } from '../routing/mod.ts';
import { errorPayloadStatus, findInvalidBody } from './inspect-body.ts';
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
