/**
 * One call, from door to door: headers → key → body → prompt → route plan → cache → limit → providers → relay → record. Each step
 * is a function of its own file; this one says in which order, and what happens when one fails.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { BodyRoom, ServerRequest } from '#platform/http-server/mod.ts';
import { requirePath } from '#platform/keys/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { EVALUATION_PROPERTY } from '#platform/secrets/mod.ts';
import { type CacheOptions, parseCacheOptions } from '../cache/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import { type CallLimit, type CallLimits, UNLIMITED } from '../limits/admission.ts';
import type { LoggingRate } from '../limits/logging-rate.ts';
import { ownKey, type PreparedRequest, prepareProviderRequest } from '../providers/prepare-request.ts';
import { type LookUpCache, UNCACHED } from '../response/cache-look-up.ts';
import { failedOutcome } from '../response/outcome.ts';
import { fromCache, type ProviderSources } from '../response/provider-sources.ts';
import { relayCall } from '../response/relay.ts';
import {
  errorReply,
  type HeaderPairs,
  idHeaders,
  NOT_TO_BE_RETRIED,
  unloggedHeaders,
  warningHeaders,
} from '../response/reply.ts';
import { parseRetries, type RoutePlan, requireOneProvider } from '../routing/mod.ts';
import { requireAllowedCandidates } from './allowed-candidates.ts';
import { type PromptedBody, type RequestBody, readRequestBody } from './body.ts';
import type { Call, Caller, CallHeaders } from './call.ts';
import { readCallHeaders } from './headers.ts';
import { usesKeptState } from './kept-state.ts';
import { logDefect } from './log-defect.ts';
import { type CallResult, type LateRecords, type LoggedCall, type Recorder, recordOnce } from './record.ts';
import type { ReserveRequestId } from './request-id.ts';

/** The steps of a call. */
export type CallSteps = {
  clock: Clock;
  log: Logger;
  /** Largest body of a request. */
  maxBodyBytes: number;
  /** Days for which records are kept, and so responses in the cache; null: for ever. */
  retentionDays: number | null;
  /** Memory for large bodies, a slot for each byte. */
  bodySlots: BodyRoom['slots'];
  /** Finds the caller; throws AssayError invalid_api_key, key_expired, missing_scope or store_unavailable. */
  authenticate(headers: CallHeaders): Promise<Caller>;
  /**
   * Expands the stored prompt that a body names.
   * @param growRoom takes room for so many bytes, by which the body becomes longer
   */
  expandPrompt(
    body: PromptedBody,
    endpoint: ApiEndpoint,
    caller: Caller,
    growRoom: (bytes: number) => void,
  ): Promise<RequestBody>;
  /** The candidates that a model, a list of models or a group of them stands for. */
  plan(model: string): RoutePlan;
  limits: CallLimits;
  lookUpCache: LookUpCache;
  reserveRequestId: ReserveRequestId;
  logging: LoggingRate;
  fromProviders: ProviderSources;
  recorder: Recorder;
  lateRecords: LateRecords;
};

/** A body that several candidates may be prepared for in one turn of the event loop. */
const LARGEST_IN_A_ROW_BYTES = 64 * 1024;

/** Handles a call of an API endpoint. Never rejects: every failure is a reply in the endpoint's error format. */
export type CallHandler = (request: ServerRequest, endpoint: ApiEndpoint) => Promise<Response>;

/** Makes the handler of the gateway's calls. */
export function createCallHandler(steps: CallSteps): CallHandler {
  const { clock, log } = steps;
  return async (request, endpoint) => {
    const startedAt = clock.monotonic();
    const createdAtMs = clock.now();
    let id = newRequestId(createdAtMs);
    let ownHeaders = idHeaders(id);
    try {
      const received = readCallHeaders(request.rawHeaders);
      id = received.requestId ?? id;
      ownHeaders = [...idHeaders(id), ...warningHeaders(received.warnings)];
      const caller = await steps.authenticate(received);
      const { allowed } = caller;
      if (allowed !== null) requirePath(allowed, endpoint.addresses);
      const headers = withEvaluationProperty(received, caller);
      const askedOfCache = parseCacheOptions(headers.cache, steps.retentionDays);
      const limit = steps.limits.limitOf(headers, caller);
      const { contentEncoding } = headers;
      const room = { slots: steps.bodySlots, owner: caller.organizationId };
      const bounds = { maxBytes: steps.maxBodyBytes, ...room };
      const read = await readRequestBody(request, contentEncoding, endpoint, bounds);
      const growRoom = (bytes: number) => request.growRoom(bytes, room);
      const body =
        'promptedBytes' in read ? await steps.expandPrompt(read, endpoint, caller, growRoom) : read;
      const cacheOptions = askedOfCache !== null && (await usesKeptState(body.bytes)) ? null : askedOfCache;
      const retries = parseRetries(headers.retry);
      const { candidates } = steps.plan(body.model);
      if (allowed !== null) requireAllowedCandidates(allowed, candidates);
      if (ownKey(headers) !== null) requireOneProvider(candidates);
      const { signal } = request;
      const call = { id, caller, endpoint, headers, body, candidates, createdAtMs, startedAt, signal };
      const requests = await prepareAll(call, cacheOptions !== null, growRoom);
      return await respond({ call, requests, cacheOptions, limit, retries }, ownHeaders, steps);
    } catch (error) {
      return failedReply(error, id, ownHeaders, endpoint, log);
    }
  };
}

/**
 * Prepares the requests of all candidates before any is sent: what a model of the list cannot be asked is a mistake of the call's.
 * @param growRoom takes room for the bodies of further candidates, which may have one of their own each
 */
async function prepareAll(
  call: Call,
  usesCache: boolean,
  growRoom: (bytes: number) => void,
): Promise<PreparedRequest[]> {
  const requests: PreparedRequest[] = [];
  for (const candidate of call.candidates) {
    // Each may translate up to a megabyte at once: other calls go on between them.
    if (requests.length > 0 && call.body.bytes.length > LARGEST_IN_A_ROW_BYTES) await nextTurn();
    const prepared = prepareProviderRequest(candidate, call, usesCache);
    const ready = prepared instanceof Promise ? await prepared : prepared;
    if (requests.length > 0 && ready.body !== call.body.bytes) growRoom(ready.body.length);
    requests.push(ready);
  }
  return requests;
}

/** A call that can be made, and how. */
type ReadyCall = {
  call: Call;
  /** One for each candidate. */
  requests: readonly PreparedRequest[];
  /** null: the call does not use the cache. */
  cacheOptions: CacheOptions | null;
  limit: CallLimit | null;
  /** Further attempts at each candidate. */
  retries: number;
};

/** Gets the call its response. The cache comes before the limit, which stored responses do not use; the provider after. */
async function respond(ready: ReadyCall, firstHeaders: HeaderPairs, steps: CallSteps): Promise<Response> {
  const { call, requests, cacheOptions, limit } = ready;
  const { caller, headers, endpoint } = call;
  let ownHeaders = firstHeaders;
  let cached = UNCACHED;
  let admission = UNLIMITED;
  const onEnd = (result: CallResult | null): void => {
    // Calls that wait for this one's response get it even when its cost cannot be settled.
    try {
      admission.settle(result);
    } finally {
      cached.store(result);
    }
  };
  try {
    if (cacheOptions !== null) {
      cached = await steps.lookUpCache(call, requests[0]!, cacheOptions);
      ownHeaders = [...ownHeaders, ...cached.headers];
    }
    const { stored } = cached;
    if (limit !== null) {
      admission = await steps.limits.admit(call, limit, stored !== null);
      ownHeaders = [...ownHeaders, ...admission.headers];
      if (admission.refusedBy !== null)
        return await refuse(call, admission.refusedBy, ownHeaders, onEnd, steps);
    }
    // Last, so that a call that is refused does not use its id up.
    if (headers.requestId !== null) {
      await reserve(caller, headers.requestId, steps.reserveRequestId);
      // From here on a client's own retry is a 409, which would hide the error that it retries for.
      ownHeaders = [...ownHeaders, NOT_TO_BE_RETRIED];
    }
    if (call.signal.aborted)
      throw new AssayError('client_closed_request', 'The client left before its call was made');
    const logging = steps.logging.decide(caller);
    const logged: LoggedCall = { call, cachedFrom: stored?.requestId ?? null, logging };
    const source =
      stored === null
        ? steps.fromProviders(call, requests, { retries: ready.retries, findStored: cached.findFallback })
        : fromCache(call, requests[0]!, stored);
    const reads = (result: CallResult) => admission.reads(result.outcome) || cached.reads(result);
    const { recorder, lateRecords, log } = steps;
    const record = recordOnce(logged, { recorder, lateRecords, reads, onEnd, log });
    return await relayCall({ logged, headers: ownHeaders, record }, source, steps);
  } catch (error) {
    onEnd(null);
    return failedReply(error, call.id, ownHeaders, endpoint, steps.log);
  }
}

function failedReply(
  error: unknown,
  requestId: string,
  headers: HeaderPairs,
  endpoint: ApiEndpoint,
  log: Logger,
): Response {
  if (!(error instanceof AssayError)) logDefect(log, requestId, error, 'call failed');
  else if (error.code === 'bodies_busy' && error.cause !== undefined)
    log.error({ requestId, error: describeError(error.cause) }, error.message);
  return errorReply(error, headers, endpoint.errors);
}

/** Replies to a call over its limit: no provider is called, and the log has it. */
async function refuse(
  call: Call,
  policy: string,
  headers: HeaderPairs,
  onEnd: (result: CallResult) => void,
  steps: Pick<CallSteps, 'logging' | 'recorder' | 'lateRecords' | 'log'>,
): Promise<Response> {
  const error = new AssayError(
    'rate_limit_exceeded',
    `The rate limit ${policy} of this API key is used up; Retry-After says in how many seconds one more call will pass`,
  );
  // An id that the caller chose stays free for the call that will be let in.
  const id = call.headers.requestId === null ? call.id : newRequestId(call.createdAtMs);
  const refused = { ...call, id };
  const others = headers.filter(([name]) => name !== 'service-request-id');
  // The reply is ours, and whole.
  const outcome = { ...failedOutcome(refused, error), truncated: false };
  const logged = { call: refused, cachedFrom: null, logging: steps.logging.decide(call.caller) };
  const record = recordOnce(logged, { ...steps, reads: () => false, onEnd });
  const isKept = await record({ outcome, candidate: call.candidates[0]!, attempts: [], cachedFrom: null });
  const allHeaders = [...idHeaders(id), ...others, ...unloggedHeaders(isKept)];
  return errorReply(error, allHeaders, call.endpoint.errors);
}

/** Adds the property by which the record of an evaluator's call names its evaluation. */
function withEvaluationProperty(headers: CallHeaders, { evaluationId }: Caller): CallHeaders {
  if (evaluationId === null) return headers;
  return { ...headers, properties: [...headers.properties, [EVALUATION_PROPERTY, evaluationId]] };
}

async function reserve(caller: Caller, requestId: string, reserveRequestId: ReserveRequestId): Promise<void> {
  if (await reserveRequestId(caller.organizationId, requestId)) return;
  const message = `The Service-Request-Id ${requestId} was used before, perhaps by an earlier attempt of this client, whose retries send it again`;
  throw new AssayError('request_id_in_use', message);
}
