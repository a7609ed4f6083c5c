/**
 * One chat completion, from door to door: headers → key → body → route → cache → limit → provider → relay → record. Each
 * step is a function of its own file; this one says in which order, and what happens when one fails.
 */
import type { Clock } from '#core/clock.ts';
import type { Config } from '#core/config/mod.ts';
import { AssayError, describeError } from '#core/errors.ts';
import { bearerToken, incomingOf, outgoingOf, readBody } from '#core/http/mod.ts';
import { newRequestId } from '#core/ids.ts';
import type { InternalCall } from '#core/internal-call.ts';
import type { KeyDirectory } from '#core/keys/mod.ts';
import type { Logger } from '#core/log.ts';
import type { Policy } from '#core/rate-limit/mod.ts';
import { type AnswerCache, type CacheWish, readCacheWish } from '../cache/mod.ts';
import type { Admissions, CallLimit } from '../limits/admission.ts';
import type { LoggingRate } from '../limits/logging-rate.ts';
import { counterOf } from '../limits/policy-of.ts';
import type { Route } from '../providers/route.ts';
import type { Upstream } from '../providers/upstream.ts';
import { errorReply, idHeaders } from './answer.ts';
import type { Call, Caller } from './call.ts';
import { type CallHeaders, readCallHeaders } from './call-headers.ts';
import { type ChatBody, decodeBody, providerBody, readChatBody } from './chat-body.ts';
import { type Recorder, recordOnce } from './record.ts';
import { failedOutcome, relayCall } from './relay.ts';
import { spoken } from './spoken.ts';
import { findStored, replay } from './stored-answer.ts';

export type ChatDependencies = {
  config: Pick<Config, 'maxBodyBytes'>;
  clock: Clock;
  log: Logger;
  keys: KeyDirectory;
  route(model: string): Route;
  upstream: Upstream;
  recorder: Recorder;
  cache: AnswerCache;
  /** What a rate-limit policy says; throws AssayError invalid_rate_limit_policy. */
  readPolicy(text: string): Policy;
  admissions: Admissions;
  logging: LoggingRate;
  /** Claims an id that a caller chose; false when the organization has used it before. */
  claimRequestId(organizationId: string, requestId: string): Promise<boolean>;
  /** The evaluation that a header says a call is made for; null when it is not signed by an evaluator of ours. */
  readInternalCall(header: string): InternalCall | null;
};

/** The property that leads from a judge's record to the evaluation it was made for. */
const EVALUATION_PROPERTY = 'Assay-Evaluation-Id';

/** The path that records show, whichever of the two was called. */
const RECORDED_PATH = '/v1/chat/completions';

/** Handles `POST /v1/chat/completions`. Never rejects: every failure is an answer in OpenAI's shape. */
export function createChatHandler(dependencies: ChatDependencies): (request: Request) => Promise<Response> {
  const { clock } = dependencies;
  return async (request) => {
    const startedAt = clock.monotonic();
    const createdAtMs = clock.now();
    let id = newRequestId(createdAtMs);
    let call: Call | null = null;
    try {
      const headers = readCallHeaders(incomingOf(request).rawHeaders);
      id = headers.requestId ?? id;
      const caller = await authenticate(headers, dependencies);
      const wish = readCacheWish(headers.cache);
      const limit = limitOf(headers, caller, dependencies);
      const body = await readRequest(request, headers, dependencies.config.maxBodyBytes);
      const route = dependencies.route(body.model);
      call = {
        id,
        caller,
        path: RECORDED_PATH,
        headers,
        body,
        route,
        createdAtMs,
        startedAt,
        client: outgoingOf(request),
        ownHeaders: idHeaders(id),
        cachedFrom: null,
        isLogged: true,
        whenEnded: [],
      };
      return await answer(call, { wish, limit }, dependencies);
    } catch (error) {
      if (!(error instanceof AssayError)) {
        dependencies.log.error(
          { requestId: id, error: describeError(error), stack: (error as Error).stack },
          'call failed',
        );
      }
      for (const hear of call?.whenEnded.splice(0) ?? []) hear(null);
      return errorReply(error, call?.ownHeaders ?? idHeaders(id));
    }
  };
}

type Wanted = { wish: CacheWish | null; limit: CallLimit | null };

/** A stored answer comes before the limit, which it does not use; the provider after it. */
async function answer(
  call: Call,
  { wish, limit }: Wanted,
  dependencies: ChatDependencies,
): Promise<Response> {
  const { body, route, headers, caller } = call;
  const provided = providerBody(body, route);
  const sent = providerHeaders(call, wish !== null);
  const stored = wish === null ? null : await findStored(call, provided, wish, dependencies);
  if (wish !== null) call.ownHeaders.push(['service-cache', stored === null ? 'MISS' : 'HIT']);
  if (limit !== null) {
    const admission = await dependencies.admissions.admit(call, limit, stored !== null);
    call.ownHeaders.push(...admission.headers);
    if (!admission.isAdmitted) return await refuse(call, limit, dependencies);
  }
  // Last, so that a call that is refused does not use its id up.
  if (headers.requestId !== null) await claim(caller, headers.requestId, dependencies);
  if (call.client.destroyed)
    throw new AssayError('client_closed_request', 'The client left before its call was made');
  dependencies.logging.watch(call);
  call.cachedFrom = stored?.requestId ?? null;
  const send = stored === null ? spoken(call, dependencies.upstream.send) : replay(stored);
  return await relayCall(call, provided, sent, send, dependencies);
}

/** The policy that the call names, else its key's. */
function limitOf(
  headers: CallHeaders,
  caller: Caller,
  { readPolicy }: Pick<ChatDependencies, 'readPolicy'>,
): CallLimit | null {
  const text = headers.rateLimitPolicy ?? caller.rateLimitPolicy;
  if (text === null) return null;
  const policy = readPolicy(text);
  return { policy, counter: counterOf(policy, caller, headers) };
}

/** Over its limit: the provider does not hear of the call, the log does. */
async function refuse(call: Call, { policy }: CallLimit, dependencies: ChatDependencies): Promise<Response> {
  const error = new AssayError(
    'rate_limit_exceeded',
    `The rate limit ${policy.text} of this API key is used up; Retry-After says in how many seconds one more call will pass`,
  );
  // An id that the caller chose stays free for the call that will be let in.
  const refused = call.headers.requestId === null ? call : withOwnId(call);
  dependencies.logging.watch(refused);
  const isKept = await recordOnce(refused, dependencies.recorder)(failedOutcome(error));
  if (!isKept) refused.ownHeaders.push(['service-logged', 'false']);
  return errorReply(error, refused.ownHeaders);
}

function withOwnId(call: Call): Call {
  const id = newRequestId(call.createdAtMs);
  const others = call.ownHeaders.filter(([name]) => name !== 'service-request-id');
  return { ...call, id, ownHeaders: [...idHeaders(id), ...others] };
}

async function authenticate(
  headers: CallHeaders,
  { keys, readInternalCall }: Pick<ChatDependencies, 'keys' | 'readInternalCall'>,
): Promise<Caller> {
  const internal = headers.internal === null ? null : readInternalCall(headers.internal);
  if (internal !== null) {
    headers.properties.push([EVALUATION_PROPERTY, internal.evaluationId]);
    return {
      organizationId: internal.organizationId,
      apiKeyId: null,
      source: 'evaluator',
      rateLimitPolicy: null,
      logsPer5s: null,
    };
  }
  const token = bearerToken(headers.serviceAuth ?? headers.authorization);
  if (token === null) {
    throw new AssayError(
      'invalid_api_key',
      'No API key was given: send it as "Authorization: Bearer <key>", or as "Service-Auth: Bearer <key>" beside your own provider key',
    );
  }
  const found = keys.find(token);
  const apiKey = found instanceof Promise ? await found : found;
  if (apiKey === null)
    throw new AssayError('invalid_api_key', 'The API key is not known here, or was revoked');
  if (!apiKey.scopes.has('gateway'))
    throw new AssayError('missing_scope', 'The API key lacks the scope "gateway"');
  const { organizationId, keyId, rateLimitPolicy, logsPer5s } = apiKey;
  return { organizationId, apiKeyId: keyId, source: 'gateway', rateLimitPolicy, logsPer5s };
}

async function readRequest(request: Request, headers: CallHeaders, maxBytes: number): Promise<ChatBody> {
  const received = await readBody(request, maxBytes);
  const encoding = headers.contentEncoding;
  const isPlain = encoding === null || encoding.trim().toLowerCase() === 'identity';
  return readChatBody(isPlain ? received : await decodeBody(received, encoding, maxBytes));
}

async function claim(
  caller: Caller,
  requestId: string,
  dependencies: Pick<ChatDependencies, 'claimRequestId'>,
): Promise<void> {
  if (await dependencies.claimRequestId(caller.organizationId, requestId)) return;
  throw new AssayError('request_id_in_use', `The Service-Request-Id ${requestId} was used before`);
}

/**
 * The headers of the provider call. The caller's own provider key, when it sent its Assay key as Service-Auth; else
 * the operator's.
 * @param isStored the answer will be
 */
function providerHeaders(call: Call, isStored: boolean): string[] {
  const { headers, route, body } = call;
  const ownKey = headers.serviceAuth === null ? null : bearerToken(headers.authorization);
  const key = ownKey ?? route.apiKey;
  if (key === null) {
    throw new AssayError(
      'provider_not_configured',
      `The provider ${route.provider} has no key here: ${route.row.keyVariable} is not set, and the call brought none of its own`,
    );
  }
  const credential = route.row.keyHeader === 'authorization' ? `Bearer ${key}` : key;
  // A stream is read event by event, what is stored is for clients of any kind, and what is translated is read: these
  // should come uncompressed. Of another plain answer the bytes pass through, so the provider is offered what the client takes.
  const isPlain = body.stream || isStored || route.row.dialect !== 'openai';
  const encoding = isPlain ? undefined : call.client.req.headers['accept-encoding'];
  return [
    ...headers.forwarded,
    ...route.row.headers,
    'content-type',
    'application/json',
    route.row.keyHeader,
    credential,
    'accept-encoding',
    typeof encoding === 'string' ? encoding : 'identity',
  ];
}
