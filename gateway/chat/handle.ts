/**
 * One chat completion, from door to door: key → headers → body → route → provider → relay → record. Each step is a
 * function of its own file; this one says in which order, and what happens when one fails.
 */
import type { Clock } from '#core/clock.ts';
import type { Config } from '#core/config/mod.ts';
import { AssayError, describeError } from '#core/errors.ts';
import { bearerToken, incomingOf, outgoingOf, readBody } from '#core/http/mod.ts';
import { newRequestId } from '#core/ids.ts';
import type { InternalCall } from '#core/internal-call.ts';
import type { KeyDirectory } from '#core/keys/mod.ts';
import type { Logger } from '#core/log.ts';
import type { Route } from '../providers/route.ts';
import type { Upstream } from '../providers/upstream.ts';
import { errorReply } from './answer.ts';
import type { Call, Caller } from './call.ts';
import { type CallHeaders, readCallHeaders } from './call-headers.ts';
import { type ChatBody, decodeBody, providerBody, readChatBody } from './chat-body.ts';
import type { Recorder } from './record.ts';
import { relayCall } from './relay.ts';

export type ChatDependencies = {
  config: Pick<Config, 'maxBodyBytes'>;
  clock: Clock;
  log: Logger;
  keys: KeyDirectory;
  route(model: string): Route;
  upstream: Upstream;
  recorder: Recorder;
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
    try {
      const headers = readCallHeaders(incomingOf(request).rawHeaders);
      id = headers.requestId ?? id;
      const caller = await authenticate(headers, dependencies);
      const body = await readRequest(request, headers, dependencies.config.maxBodyBytes);
      const route = dependencies.route(body.model);
      const client = outgoingOf(request);
      const call: Call = {
        id,
        caller,
        path: RECORDED_PATH,
        headers,
        body,
        route,
        createdAtMs,
        startedAt,
        client,
      };
      const provided = providerBody(body, route.model, route.dialect.asksForUsage);
      const sent = providerHeaders(call);
      // Last, so that a call that is refused does not use its id up.
      if (headers.requestId !== null) await claim(caller, headers.requestId, dependencies);
      if (client.destroyed)
        throw new AssayError('client_closed_request', 'The client left before its call was made');
      return await relayCall(call, provided, sent, dependencies);
    } catch (error) {
      if (!(error instanceof AssayError)) {
        dependencies.log.error(
          { requestId: id, error: describeError(error), stack: (error as Error).stack },
          'call failed',
        );
      }
      return errorReply(error, id);
    }
  };
}

async function authenticate(
  headers: CallHeaders,
  { keys, readInternalCall }: Pick<ChatDependencies, 'keys' | 'readInternalCall'>,
): Promise<Caller> {
  const internal = headers.internal === null ? null : readInternalCall(headers.internal);
  if (internal !== null) {
    headers.properties.push([EVALUATION_PROPERTY, internal.evaluationId]);
    return { organizationId: internal.organizationId, apiKeyId: null, source: 'evaluator' };
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
  return { organizationId: apiKey.organizationId, apiKeyId: apiKey.keyId, source: 'gateway' };
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
 */
function providerHeaders(call: Call): string[] {
  const { headers, route, body } = call;
  const ownKey = headers.serviceAuth === null ? null : bearerToken(headers.authorization);
  const key = ownKey ?? route.apiKey;
  if (key === null) {
    throw new AssayError(
      'provider_not_configured',
      `The provider ${route.provider} has no key here: ${route.dialect.keyVariable} is not set, and the call brought none of its own`,
    );
  }
  const credential = route.dialect.keyHeader === 'authorization' ? `Bearer ${key}` : key;
  // A stream is read event by event, so it should come uncompressed; of a plain answer the bytes pass through, so the
  // provider is offered what the client takes.
  const encoding = body.stream ? undefined : call.client.req.headers['accept-encoding'];
  return [
    ...headers.forwarded,
    'content-type',
    'application/json',
    route.dialect.keyHeader,
    credential,
    'accept-encoding',
    typeof encoding === 'string' ? encoding : 'identity',
  ];
}
