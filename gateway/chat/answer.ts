/** Answers of the gateway's own, in OpenAI's shape, and the provider's headers that an answer passes on. */
import type { IncomingHttpHeaders } from 'node:http';
import { AssayError, ERROR_CODES, type ErrorCode } from '#core/errors.ts';
import { Reply } from '#core/http/mod.ts';

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

/** What each answer says of its request, at least. */
export function idHeaders(requestId: string): HeaderPairs {
  return [['service-request-id', requestId]];
}

/** The provider's headers for the client, and our own, which come first. Service-* is ours alone. */
export function answerHeaders(provider: IncomingHttpHeaders, ownHeaders: HeaderPairs): HeaderPairs {
  const headers = [...ownHeaders];
  for (const name in provider) {
    const value = provider[name];
    if (value === undefined || DROPPED.has(name) || name.startsWith('service-')) continue;
    if (ownHeaders.some(([own]) => own === name)) continue;
    if (typeof value === 'string') headers.push([name, value]);
    else for (const item of value) headers.push([name, item]);
  }
  return headers;
}

/** An error body as OpenAI's clients read it. */
export function errorBody(message: string, type: string, code: string | null): Buffer {
  return Buffer.from(JSON.stringify({ error: { message, type, param: null, code } }));
}

/** The same for one of our codes. */
export function ownErrorBody(code: ErrorCode, message: string): Buffer {
  return errorBody(message, ERROR_CODES[code].type, code);
}

/**
 * Codes that a second try cannot mend, although their status makes OpenAI's clients try again.
 */
const NOT_WORTH_RETRYING: ReadonlySet<ErrorCode> = new Set(['request_id_in_use']);

/** One of our errors as a response. What is not an AssayError is told as an internal error, without its text. */
export function errorReply(error: unknown, ownHeaders: HeaderPairs): Response {
  const known = error instanceof AssayError ? error : null;
  const code = known?.code ?? 'internal_error';
  const message = known?.message ?? 'The gateway failed to handle this request';
  const headers: HeaderPairs = [['content-type', 'application/json'], ...ownHeaders];
  if (code === 'invalid_api_key') headers.push(['www-authenticate', 'Bearer']);
  if (NOT_WORTH_RETRYING.has(code)) headers.push(['x-should-retry', 'false']);
  return new Reply(ownErrorBody(code, message), { status: ERROR_CODES[code].status, headers });
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
