/** Answers given twice: a call that asks for the cache gets what is stored for it, or has its own answer stored. */

import { isObject } from '#core/json/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { PreparedBody } from '../providers/prepare-request.ts';
import type { Call, Outcome } from '../request/call.ts';
import { readCompletion } from '../response/read-completion.ts';
import type { Answering } from '../response/relay.ts';
import { type CacheOptions, cacheQuery, type ResponseCache, type StoredResponse } from './mod.ts';

/**
 * The answer that is stored for a call, or that an identical call under way gets for it. Null: its provider is to be
 * called, and what that answers will be stored.
 * @throws AssayError client_closed_request when the client leaves meanwhile
 */
export async function findStored(
  call: Call,
  proposal: PreparedBody,
  wish: CacheOptions,
  { cache, clock }: { cache: ResponseCache; clock: Clock },
): Promise<StoredResponse | null> {
  const { caller, surface, route } = call;
  // What the provider is sent: calls that differ only in what is hidden from them again share an answer.
  const ask = cacheQuery(wish, {
    organizationId: caller.organizationId,
    path: surface.path,
    provider: route.provider,
    model: route.model,
    body: proposal.body,
  });
  const found = wish.isReading ? await cache.find(ask) : null;
  if (found !== null) return found;
  const lead = wish.isCoalescing ? await cache.lead(ask, call.signal) : null;
  if (lead !== null && !lead.isLeader) return lead.answer;
  call.whenEnded.push((outcome) => {
    // What another model of a list answered is no answer of the first, which calls to come are for.
    const answer = call.route === route ? storable(call, outcome, clock.now()) : null;
    if (lead !== null) lead.done(answer);
    else if (answer !== null) cache.store(ask, answer);
  });
  return null;
}

/** Only what is whole, a success, and not to be forgotten. */
function storable(call: Call, outcome: Outcome | null, nowMs: number): StoredResponse | null {
  if (outcome === null || outcome.truncated || outcome.errorCode !== null || call.headers.omitResponse)
    return null;
  const { status, contentEncoding, contentType, responseBody } = outcome;
  if (status < 200 || status > 299 || (contentEncoding ?? 'identity') !== 'identity') return null;
  // What cannot be read broke off, and some providers tell of a failure under the status 200. Responses say that there was
  // none.
  const said = readCompletion(outcome);
  if (!isObject(said) || (said.error ?? null) !== null) return null;
  return { requestId: call.id, storedAtMs: nowMs, status, contentType, body: responseBody };
}

/** Sends nothing, and answers with what is stored, as its provider did. */
export function replay({ status, contentType, body }: StoredResponse): Answering {
  return ({ onStart }) => {
    const sink = onStart({
      status,
      headers: contentType === null ? {} : { 'content-type': contentType },
      pause: () => {},
      resume: () => {},
      stop: () => {},
    });
    sink.data(body);
    sink.end();
    return () => {};
  };
}
