/** Answers of the gateway's own, in the shape of the surface that was called, and the provider's headers that an answer passes on. */
import type { IncomingHttpHeaders } from 'node:http';
import { AssayError, ERROR_CODES, type ErrorCode } from '#core/errors.ts';
import { Reply } from '#core/http/mod.ts';
import { type ErrorForm, OPENAI_ERRORS, type ToldError } from '../surfaces/error-form.ts';

/** Flat list of names and values. */
export type HeaderPairs = [string, string][];

/**
 * Not passed on: what belongs to one connection, what we compute ourselves, and what would tie the client to the
 * provider's host.
 */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
]);

const REQUEST_ID = 'service-request-id';

/** What each answer says of its request, at least. */
export function idHeaders(requestId: string): HeaderPairs {
  return [[REQUEST_ID, requestId]];
}

/** What an answer says of request headers that were not understood, each in a field of its own. */
export function warningHeaders(warnings: readonly string[]): HeaderPairs {
  return warnings.map((warning) => ['service-warning', warning]);
}

/** The same id under the name that the surface's clients know. */
export function knownIdHeaders(requestId: string, { idHeader }: ErrorForm): HeaderPairs {
  return idHeader === null ? [] : [[idHeader, requestId]];
}

/** The provider's own says more to who asks the provider about a call. */
const YIELDS = 'request-id';

/** The provider's headers for the client, and our own, which come first. Service-* is ours alone. */
export function answerHeaders(provider: IncomingHttpHeaders, allOwn: HeaderPairs): HeaderPairs {
  const ownHeaders = YIELDS in provider ? allOwn.filter(([name]) => name !== YIELDS) : allOwn;
  const headers = [...ownHeaders];
  // Most calls say nothing of their own but Service-*.
  const isOwn = ownHeaders.length > 1 ? (name: string) => ownHeaders.some(([own]) => own === name) : null;
  for (const name in provider) {
    const value = provider[name];
    if (value === undefined || DROPPED.has(name) || name.startsWith('service-')) continue;
    if (isOwn?.(name)) continue;
    if (typeof value === 'string') headers.push([name, value]);
    else for (const item of value) headers.push([name, item]);
  }
  return headers;
}

/** What clients are told of one of our errors. */
export function toldError({ code, message }: Pick<AssayError, 'code' | 'message'>): ToldError {
  const { status, type } = ERROR_CODES[code];
  return { status, message, type, code };
}

/** The body that tells of one of our errors. */
export function ownErrorBody(error: Pick<AssayError, 'code' | 'message'>, form: ErrorForm): Buffer {
  return Buffer.from(JSON.stringify(form.body(toldError(error))));
}

/**
 * Codes that a second try cannot mend, although their status makes OpenAI's clients try again.
 */
const NOT_WORTH_RETRYING: ReadonlySet<ErrorCode> = new Set(['request_id_in_use']);

/**
 * What `Retry-After` says of a code, in seconds. Sooner, and those refused would stand in the same line again; later, and
 * connections that were let go meanwhile would be idle.
 */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = { provider_busy: 5 };

const UNKNOWN = { code: 'internal_error', message: 'The gateway failed to handle this request' } as const;

/** One of our errors as a response. What is not an AssayError is told as an internal error, without its text. */
export function errorReply(
  error: unknown,
  ownHeaders: HeaderPairs,
  form: ErrorForm = OPENAI_ERRORS,
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
  if (NOT_WORTH_RETRYING.has(code)) headers.push(['x-should-retry', 'false']);
  return new Reply(ownErrorBody(known, form), { status: ERROR_CODES[code].status, headers });
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

/** OpenAI's error type for a provider's status that came without a body of that shape. */
export function errorTypeOf(status: number): string {
  return TYPES_BY_STATUS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
