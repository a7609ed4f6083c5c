/** A call: one client request and all that the gateway does for it. Nothing of it changes after it is made. */
import type { Source } from '#core/contracts/log-entry.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { AllowLists } from '#core/keys/mod.ts';
import type { ProviderKeys } from '#platform/provider-keys/mod.ts';
import type { CacheHeaders } from '../cache/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { RetryHeaders } from '../routing/mod.ts';
import type { RequestBody } from './body.ts';

/** The sender of a call. */
export type Caller = {
  readonly organizationId: string;
  /** null: an evaluator's call, which has no key. */
  readonly apiKeyId: string | null;
  readonly source: Exclude<Source, 'api'>;
  /** The evaluation that an evaluator's call is made for. */
  readonly evaluationId: string | null;
  /** The experiment that it is made for; null: another caller, whose header may name one. */
  readonly experimentId: string | null;
  /** The key whose rate-limit counters its calls use; null as above. */
  readonly countedAs: string | null;
  /** The policy of its key, which bounds its calls beside a policy that they name. */
  readonly rateLimitPolicy: string | null;
  /** The models, providers and paths that its key is confined to; null: all. */
  readonly allowed: AllowLists | null;
  /** The most requests of its organization that are logged in any 5 seconds; null: all. */
  readonly logsPer5s: number | null;
  /** The stored keys of its organization, used in place of the operator's. */
  readonly providerKeys: ProviderKeys;
};

/** The headers of a call, as read. */
export type CallHeaders = {
  authorization: string | null;
  /** The header in which Anthropic's clients send their key. */
  xApiKey: string | null;
  serviceAuth: string | null;
  /** The signature of one of our evaluators, or of the playground; from any other client it counts for nothing. */
  internal: string | null;
  contentEncoding: string | null;
  /** The encodings in which the client takes a response. */
  acceptEncoding: string | null;
  requestId: string | null;
  userId: string | null;
  sessionId: string | null;
  sessionPath: string | null;
  sessionName: string | null;
  promptId: string | null;
  experimentId: string | null;
  omitRequest: boolean;
  omitResponse: boolean;
  /** Several of them joined by commas, which no policy has; null: none. */
  rateLimitPolicy: string | null;
  cache: CacheHeaders;
  retry: RetryHeaders;
  /** Name (as sent) and value. */
  properties: [string, string][];
  /** Flat list of names and values for the provider, whichever it is. */
  forwarded: string[];
  /** The same for providers of one dialect alone. */
  forwardedTo: { openai: string[]; anthropic: string[] };
  /** Sentences about headers that look like ours and are not read. */
  warnings: string[];
};

export type Call = {
  readonly id: string;
  readonly caller: Caller;
  readonly endpoint: ApiEndpoint;
  readonly headers: CallHeaders;
  readonly body: RequestBody;
  /** Its route plan: the candidates it may be sent to, in order; at least one. */
  readonly candidates: readonly Candidate[];
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** On the monotonic clock. */
  readonly startedAt: number;
  /** Aborts when the client leaves before its response is through. */
  readonly signal: AbortSignal;
};

/** The response of a call, as its record has it. */
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
  /**
   * The completion that the body holds, as `withCompletion` reads it; null: it holds none. Undefined: it was not read, and is
   * small enough to be read by those who need it.
   */
  completion?: JsonObject | null | undefined;
};
