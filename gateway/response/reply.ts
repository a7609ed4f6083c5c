/** Replies of the gateway's own, in the format of the API endpoint that was called, and the headers of relayed ones. */
import { AssayError, ERROR_CODES, type ErrorCode } from '#core/contracts/errors.ts';
import type { ResponseHeaders } from '#platform/http-client/mod.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { type ErrorDetails, type ErrorFormat, OPENAI_ERRORS } from '../endpoints/error-format.ts';

/** Flat list of names and values. */
export type HeaderPairs = [string, string][];

/**
 * Provider headers that are not passed on: those of one connection, those that the gateway computes itself, and those
 * that tell a browser how to treat the host they came from. To the client that host is the gateway, whose replies a
 * provider must not open to other origins, redirect, or clear the cookies and storage of.
 */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'refresh',
  'clear-site-data',
]);
/** The first are the gateway's alone; the second as above; of the last, `proxy-authorization` is a credential. */
const DROPPED_FAMILY = /^(?:service|access-control|proxy)-/;

function isDropped(name: string): boolean {
  return DROPPED.has(name) || DROPPED_FAMILY.test(name);
}

const REQUEST_ID = 'service-request-id';

/** Returns what every reply says of its request, at least. */
export function idHeaders(requestId: string): HeaderPairs {
  return [[REQUEST_ID, requestId]];
}

/** Returns what a reply says of request headers that were not understood, each in a field of its own. */
export function warningHeaders(warnings: readonly string[]): HeaderPairs {
  return warnings.map((warning) => ['service-warning', warning]);
}

/** Returns the id of a request under the name that the endpoint's clients know. */
export function knownIdHeaders(requestId: string, { idHeader }: ErrorFormat): HeaderPairs {
  return idHeader === null ? [] : [[idHeader, requestId]];
}

/** The provider's own id says more when a client asks the provider about a call. */
const YIELDS = 'request-id';

/** Returns the provider's headers for the client, and our own, which come first. */
export function relayedHeaders(provider: ResponseHeaders, allOwn: HeaderPairs): HeaderPairs {
  const ownHeaders = YIELDS in provider ? allOwn.filter(([name]) => name !== YIELDS) : allOwn;
  const headers = [...ownHeaders];
  // Most replies have no header of ours but Service-*.
  const isOwn = ownHeaders.length > 1 ? (name: string) => ownHeaders.some(([own]) => own === name) : null;
  for (const name in provider) if (!isDropped(name) && !isOwn?.(name)) headers.push([name, provider[name]!]);
  return headers;
}

/** Returns what clients read of one of our errors. */
export function errorDetails({ code, message }: Pick<AssayError, 'code' | 'message'>): ErrorDetails {
  const { status, type } = ERROR_CODES[code];
  return { status, message, type, code };
}

/** Returns the body of one of our errors. */
export function ownErrorBody(error: Pick<AssayError, 'code' | 'message'>, form: ErrorFormat): Buffer {
  return Buffer.from(JSON.stringify(form.body(errorDetails(error))));
}

/** Read by OpenAI's and Anthropic's clients when a call has failed. */
export const NOT_TO_BE_RETRIED: HeaderPairs[number] = ['x-should-retry', 'false'];

/** Codes that another attempt cannot mend, although their status makes OpenAI's clients try again. */
const NOT_WORTH_RETRYING: ReadonlySet<ErrorCode> = new Set(['request_id_in_use']);

/**
 * `Retry-After` of a code, in seconds. With less, refused calls would wait in the same line again; with more, connections
 * that became free meanwhile would be idle.
 */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = { provider_busy: 5, bodies_busy: 5 };

const UNKNOWN = { code: 'internal_error', message: 'The gateway failed to handle this request' } as const;

/** Returns one of our errors as a reply. Anything but an AssayError becomes an internal error, without its text. */
export function errorReply(
  error: unknown,
  ownHeaders: HeaderPairs,
  form: ErrorFormat = OPENAI_ERRORS,
): Response {
  const known = error instanceof AssayError ? error : UNKNOWN;
  const { code } = known;
  const headers: HeaderPairs = [['content-type', 'application/json'], ...ownHeaders];
  const [, requestId] = ownHeaders.find(([name]) => name === REQUEST_ID) ?? [];
  const isThere = ownHeaders.some(([name]) => name === form.idHeader);
  if (requestId !== undefined && !isThere) headers.push(...knownIdHeaders(requestId, form));
  if (code === 'invalid_api_key') headers.push(['www-authenticate', 'Bearer']);
  const retryAfter = RETRY_AFTER_SECONDS[code];
  if (retryAfter !== undefined) headers.push(['retry-after', String(retryAfter)]);
  if (NOT_WORTH_RETRYING.has(code)) headers.push(NOT_TO_BE_RETRIED);
  return new Reply(ownErrorBody(known, form), { status: ERROR_CODES[code].status, headers });
}

/** Returns what a reply says besides when its call has no record. */
export function unloggedHeaders(isKept: boolean): HeaderPairs {
  return isKept ? [] : [['service-logged', 'false']];
}

const TYPES_BY_STATUS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'service_unavailable',
  529: 'overloaded_error',
};

/** Returns OpenAI's error type for a provider's status that came without a body of that format. */
export function errorTypeOf(status: number): string {
  return TYPES_BY_STATUS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
