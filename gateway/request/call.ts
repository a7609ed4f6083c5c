import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { ProviderKeys } from '#platform/provider-keys/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { HeaderPairs } from '../response/reply.ts';
import type { Attempt } from '../routing/mod.ts';
import type { RequestBody } from './body.ts';
import type { CallHeaders } from './headers.ts';

/** Who makes a call. */
export type Caller = {
  organizationId: string;
  /** null: none, it is an evaluator's call. */
  apiKeyId: string | null;
  source: 'gateway' | 'evaluator';
  /** The policy of its key, for calls that name none. */
  rateLimitPolicy: string | null;
  /** How many of its organization's requests are logged in any 5 seconds; null: all. */
  logsPer5s: number | null;
  /** What its organization has stored: used in place of the operator's keys. */
  providerKeys: ProviderKeys;
};

/** One call that was let in, on its way to a provider. */
export type Call = {
  id: string;
  caller: Caller;
  surface: ApiEndpoint;
  headers: CallHeaders;
  body: RequestBody;
  /** Where it is tried first; once it is answered, where that was. */
  route: Candidate;
  /** Permit the usage chunk out: the gateway asked for it, not the client. Of the route that answers. */
  hidesUsage: boolean;
  /** How it was tried, when it could be tried more than once. */
  attempts: Attempt[];
  /** Milliseconds since the epoch. */
  createdAtMs: number;
  /** On the monotonic clock. */
  startedAt: number;
  /** Aborts when the client leaves before its response is through. */
  signal: AbortSignal;
  /** What every answer to the call says, whoever answers: its id, its limit, whether it was stored. */
  ownHeaders: HeaderPairs;
  /** The request whose stored answer this call gets; null: its provider is called. */
  cachedFrom: string | null;
  /** Whether the organization's logging rate has room for it. */
  isLogged: boolean | Promise<boolean>;
  /** Who wants to hear how it ended, once: with its outcome, or null when it was not made. */
  whenEnded: ((outcome: Outcome | null) => void)[];
};

/** How a call ended: what its record says of the answer. */
export type Outcome = {
  /** The status that the client saw; 499 when it left. */
  status: number;
  /** As the provider sent it, or the error of ours that the client got. */
  responseBody: Buffer;
  contentType: string | null;
  contentEncoding: string | null;
  stream: boolean;
  ttftMs: number | null;
  truncated: boolean;
  errorCode: string | null;
};

/** What the head of a log entry says of the call, before any answer. */
function callHead(call: Call) {
  const { headers, body, route, caller } = call;
  return {
    v: 1,
    id: call.id,
    organizationId: caller.organizationId,
    apiKeyId: caller.apiKeyId,
    source: caller.source,
    createdAtMs: call.createdAtMs,
    path: call.surface.path,
    provider: route.row.label,
    requestModel: body.model,
    ...(route.model !== body.model && { routedModel: route.model }),
    userId: headers.userId ?? body.user,
    sessionId: headers.sessionId,
    sessionPath: headers.sessionPath,
    sessionName: headers.sessionName,
    promptId: headers.promptId,
    experimentId: headers.experimentId,
    properties: headers.properties,
    omitRequest: headers.omitRequest,
    omitResponse: headers.omitResponse,
    ...(call.attempts.length > 1 && { attempts: call.attempts }),
    ...(call.cachedFrom !== null && { cachedFrom: call.cachedFrom }),
  } as const;
}

/** The head of a call's log entry. */
export function entryHead(call: Call, outcome: Outcome, clock: Clock): LogEntryHead {
  return {
    ...callHead(call),
    answeredAtMs: clock.now(),
    latencyMs: Math.round(clock.monotonic() - call.startedAt),
    ttftMs: outcome.ttftMs === null ? null : Math.round(outcome.ttftMs),
    status: outcome.status,
    stream: outcome.stream,
    truncated: outcome.truncated,
    errorCode: outcome.errorCode,
    contentType: outcome.contentType,
    contentEncoding: outcome.contentEncoding,
  };
}

/** The head of the entry of a call that its gateway was killed in the middle of. */
export function interruptedHead(call: Call): LogEntryHead {
  return {
    ...callHead(call),
    answeredAtMs: call.createdAtMs,
    latencyMs: 0,
    ttftMs: null,
    status: 0,
    // What was asked for: whether it would have been streamed, only the answer says.
    stream: call.body.stream,
    truncated: true,
    errorCode: 'interrupted',
    contentType: null,
    contentEncoding: null,
  };
}
