/**
 * One call, from door to door: headers → key → body → routes → cache → limit → providers → relay → record. Each
 * step is a function of its own file; this one says in which order, and what happens when one fails.
 */

import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { Policy } from '#core/rate-limit/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import type { Upstream } from '#platform/http-client/mod.ts';
import type { ServerRequest } from '#platform/http-server/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { type CacheOptions, parseCacheOptions, type ResponseCache } from '../cache/mod.ts';
import { findStored, replay } from '../cache/stored-response.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import type { Admissions, CallLimit } from '../limits/admission.ts';
import type { LoggingRate } from '../limits/logging-rate.ts';
import { counterOf } from '../limits/policy.ts';
import { prepareBody } from '../providers/prepare-request.ts';
import { ownKey, providerHeaders } from '../providers/provider-headers.ts';
import type { Candidate } from '../providers/resolve.ts';
import { failedOutcome, relayCall } from '../response/relay.ts';
import { errorReply, idHeaders, knownIdHeaders, warningHeaders } from '../response/reply.ts';
import { providedBy } from '../routing/from-providers.ts';
import { type Plan, parseRetries, requireOneProvider, type SendRouted } from '../routing/mod.ts';
import { type AuthenticateDependencies, authenticate } from './authenticate.ts';
import { type RequestBody, readRequestBody } from './body.ts';
import type { Call, Caller } from './call.ts';
import { decodeBody } from './decode-body.ts';
import { type CallHeaders, readCallHeaders } from './headers.ts';
import { type Recorder, recordOnce } from './record.ts';

export type CallDependencies = AuthenticateDependencies & {
  config: Pick<Config, 'maxBodyBytes'>;
  clock: Clock;
  log: Logger;
  /** Where a model, a list of models or a group of them is tried. */
  plan(model: string): Plan;
  sendRouted: SendRouted;
  upstream: Upstream;
  recorder: Recorder;
  cache: ResponseCache;
  /** What a rate-limit policy says; throws AssayError invalid_rate_limit_policy. */
  readPolicy(text: string): Policy;
  admissions: Admissions;
  logging: LoggingRate;
  /** Claims an id that a caller chose; false when the organization has used it before. */
  claimRequestId(organizationId: string, requestId: string): Promise<boolean>;
};

/** Handles a call of a surface. Never rejects: every failure is an answer in the surface's shape. */
export type CallHandler = (request: ServerRequest, surface: ApiEndpoint) => Promise<Response>;

/** Makes what handles the gateway's calls. */
export function createCallHandler(dependencies: CallDependencies): CallHandler {
  const { clock } = dependencies;
  return async (request, surface) => {
    const startedAt = clock.monotonic();
    const createdAtMs = clock.now();
    let id = newRequestId(createdAtMs);
    let ownHeaders = idHeaders(id);
    let call: Call | null = null;
    try {
      const headers = readCallHeaders(request.rawHeaders);
      id = headers.requestId ?? id;
      ownHeaders = [...idHeaders(id), ...warningHeaders(headers.warnings)];
      const caller = await authenticate(headers, dependencies);
      const wish = parseCacheOptions(headers.cache);
      const limit = limitOf(headers, caller, dependencies);
      const body = await readRequest(request, headers, surface, dependencies.config.maxBodyBytes);
      const retries = parseRetries(headers.retry);
      const plan = dependencies.plan(body.model);
      if (ownKey(headers) !== null) requireOneProvider(plan);
      const { routes } = plan;
      call = {
        id,
        caller,
        surface,
        headers,
        body,
        route: routes[0]!,
        hidesUsage: false,
        attempts: [],
        createdAtMs,
        startedAt,
        signal: request.signal,
        ownHeaders,
        cachedFrom: null,
        isLogged: true,
        whenEnded: [],
      };
      return await answer(call, { wish, limit, routes, retries }, dependencies);
    } catch (error) {
      if (!(error instanceof AssayError)) {
        dependencies.log.error(
          { requestId: id, error: describeError(error), stack: (error as Error).stack },
          'call failed',
        );
      }
      for (const hear of call?.whenEnded.splice(0) ?? []) hear(null);
      return errorReply(error, call?.ownHeaders ?? ownHeaders, surface.errors);
    }
  };
}

type Wanted = {
  wish: CacheOptions | null;
  limit: CallLimit | null;
  routes: readonly Candidate[];
  /** How often each route is tried again. */
  retries: number;
};

/** A stored answer comes before the limit, which it does not use; the provider after it. */
async function answer(
  call: Call,
  { wish, limit, routes, retries }: Wanted,
  dependencies: CallDependencies,
): Promise<Response> {
  const { body, headers, caller, surface } = call;
  // All of them before any call: what a model of the list cannot be asked is a mistake of the call's.
  const sendings = [];
  for (const route of routes) {
    const proposal = await prepareBody(route, body, surface);
    sendings.push({ proposal, headers: providerHeaders(call, proposal, wish !== null) });
  }
  const { proposal } = sendings[0]!;
  const stored = wish === null ? null : await findStored(call, proposal, wish, dependencies);
  if (wish !== null) call.ownHeaders.push(['service-cache', stored === null ? 'MISS' : 'HIT']);
  if (stored !== null) call.ownHeaders.push(...knownIdHeaders(call.id, surface.errors));
  if (limit !== null) {
    const admission = await dependencies.admissions.admit({ call, routes, limit, isStored: stored !== null });
    call.ownHeaders.push(...admission.headers);
    if (!admission.isAdmitted) return await refuse(call, limit, dependencies);
  }
  // Last, so that a call that is refused does not use its id up.
  if (headers.requestId !== null) await claim(caller, headers.requestId, dependencies);
  if (call.signal.aborted)
    throw new AssayError('client_closed_request', 'The client left before its call was made');
  dependencies.logging.watch(call);
  call.cachedFrom = stored?.requestId ?? null;
  call.hidesUsage = proposal.hidesUsage;
  const answering = stored === null ? providedBy(call, sendings, retries, dependencies) : replay(stored);
  return await relayCall(call, answering, dependencies);
}

/** The policy that the call names, else its key's. */
function limitOf(
  headers: CallHeaders,
  caller: Caller,
  { readPolicy }: Pick<CallDependencies, 'readPolicy'>,
): CallLimit | null {
  const text = headers.rateLimitPolicy ?? caller.rateLimitPolicy;
  if (text === null) return null;
  const policy = readPolicy(text);
  return { policy, counter: counterOf(policy, caller, headers) };
}

/** Over its limit: the provider does not hear of the call, the log does. */
async function refuse(call: Call, { policy }: CallLimit, dependencies: CallDependencies): Promise<Response> {
  const error = new AssayError(
    'rate_limit_exceeded',
    `The rate limit ${policy.text} of this API key is used up; Retry-After says in how many seconds one more call will pass`,
  );
  // An id that the caller chose stays free for the call that will be let in.
  const refused = call.headers.requestId === null ? call : withOwnId(call);
  dependencies.logging.watch(refused);
  // Its answer is ours, and whole.
  const outcome = { ...failedOutcome(refused, error), truncated: false };
  const isKept = await recordOnce(refused, dependencies.recorder)(outcome);
  if (!isKept) refused.ownHeaders.push(['service-logged', 'false']);
  return errorReply(error, refused.ownHeaders, refused.surface.errors);
}

function withOwnId(call: Call): Call {
  const id = newRequestId(call.createdAtMs);
  const others = call.ownHeaders.filter(([name]) => name !== 'service-request-id');
  return { ...call, id, ownHeaders: [...idHeaders(id), ...others] };
}

async function readRequest(
  request: ServerRequest,
  headers: CallHeaders,
  surface: ApiEndpoint,
  maxBytes: number,
): Promise<RequestBody> {
  const received = await request.readBody(maxBytes);
  const encoding = headers.contentEncoding;
  const isPlain = encoding === null || encoding.trim().toLowerCase() === 'identity';
  return readRequestBody(isPlain ? received : await decodeBody(received, encoding, maxBytes), surface);
}

async function claim(
  caller: Caller,
  requestId: string,
  dependencies: Pick<CallDependencies, 'claimRequestId'>,
): Promise<void> {
  if (await dependencies.claimRequestId(caller.organizationId, requestId)) return;
  throw new AssayError('request_id_in_use', `The Service-Request-Id ${requestId} was used before`);
}
