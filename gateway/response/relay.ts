/** Gets a call its response, relays it to the client, and has recorded what came of it. */

import { AssayError } from '#core/contracts/errors.ts';
import { encodingOf, failedHere, isEventStream, type ProviderResponse } from '#platform/http-client/mod.ts';
import { canDecode } from '#platform/http-message/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { Outcome } from '../request/call.ts';
import type { LoggedCall, Recorder, RecordResult } from '../request/record.ts';
import type { Attempt } from '../routing/mod.ts';
import { relayBuffered } from './buffered.ts';
import { decodedResponse } from './decode.ts';
import { failedOutcome, replyToLeft } from './outcome.ts';
import { errorReply, type HeaderPairs, unloggedHeaders } from './reply.ts';
import { relayStreamed } from './streamed.ts';

/** A response may be larger than a request: 128,000 tokens of stream are some 32 MiB of events. */
const RESPONSE_TO_BODY_RATIO = 4;

/** The response that a source got for a call. */
export type SourcedResponse = {
  /** The candidate that responded, or that was tried last. */
  readonly candidate: Candidate;
  /** The gateway asked for the usage event of a stream, not the client: it is left out. */
  readonly hidesUsage: boolean;
  readonly attempts: readonly Attempt[];
  /** The request whose stored response this is; null: a provider was called. */
  readonly cachedFrom: string | null;
  /** For the reply, beside what every reply to the call says, or in its place. */
  readonly headers: HeaderPairs;
  readonly result: ProviderResponse | AssayError;
};

/** Where the response of a call comes from: its candidates, or the cache. `signal` aborts when the client leaves. */
export type ResponseSource = (signal: AbortSignal) => Promise<SourcedResponse>;

/** A call that is about to be made. */
export type RelayedCall = {
  readonly logged: LoggedCall;
  /** Headers of every reply to the call. */
  readonly headers: HeaderPairs;
  readonly record: RecordResult;
};

export type RelayOptions = {
  clock: Clock;
  log: Logger;
  recorder: Pick<Recorder, 'begin'>;
  /** Largest body of a request; responses may be four times as large. */
  maxBodyBytes: number;
};

const LEFT = new AssayError('client_closed_request', 'The client left before its call was made');

/** Relays one call. Resolves with the reply as soon as there is one; of a stream, that is its beginning. Never rejects. */
export async function relayCall(
  { logged, headers, record }: RelayedCall,
  source: ResponseSource,
  options: RelayOptions,
): Promise<Response> {
  const { call } = logged;
  const [candidate] = call.candidates as [Candidate];
  let sourced: SourcedResponse = {
    candidate,
    hidesUsage: false,
    attempts: [],
    cachedFrom: logged.cachedFrom,
    headers: [],
    result: LEFT,
  };
  const recordOutcome = (outcome: Outcome) => {
    const { candidate, attempts, cachedFrom } = sourced;
    return record({ outcome, candidate, attempts, cachedFrom });
  };
  const fail = async (error: AssayError): Promise<Response> => {
    options.log.warn({ requestId: call.id, code: error.code, detail: error.detail }, 'provider call failed');
    const isKept = await recordOutcome(failedOutcome(call, error));
    const allHeaders = [...withSourced(headers, sourced), ...unloggedHeaders(isKept)];
    return errorReply(error, allHeaders, call.endpoint.errors);
  };
  try {
    // Whatever happens to this process from now on, the call has a record.
    await options.recorder.begin(logged);
    if (!call.signal.aborted) sourced = await source(call.signal);
    const { result, hidesUsage } = sourced;
    if (call.signal.aborted) {
      if (!(result instanceof AssayError)) result.body.stop();
      return await replyToLeft(recordOutcome, Buffer.alloc(0));
    }
    if (result instanceof AssayError) return await fail(result);
    const { label } = sourced.candidate.row;
    const relay = {
      call,
      response: result,
      label,
      headers: withSourced(headers, sourced),
      record: recordOutcome,
    };
    const maxBytes = options.maxBodyBytes * RESPONSE_TO_BODY_RATIO;
    const encoding = encodingOf(result);
    if (!isEventStream(result) || !(encoding === null || canDecode(encoding)))
      return await relayBuffered(relay, maxBytes);
    const response = encoding === null ? result : decodedResponse(result, encoding, label);
    const { clock, log } = options;
    return await relayStreamed(
      { ...relay, response },
      { hidesUsage, logging: logged.logging, maxLoggedBytes: maxBytes, now: () => clock.monotonic(), log },
    );
  } catch (error) {
    return await fail(failedHere(error));
  }
}

/** Adds what a source says. A call that missed the cache may still get a stored response, and then says so once. */
function withSourced(headers: HeaderPairs, { headers: added, cachedFrom }: SourcedResponse): HeaderPairs {
  if (cachedFrom === null) return [...headers, ...added];
  return [...headers.filter(([name]) => !added.some(([other]) => other === name)), ...added];
}
