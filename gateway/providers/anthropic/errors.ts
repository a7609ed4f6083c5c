/** A provider's error, told in the other dialect. The status stays; so do the type and what it says. */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';

/** A page of HTML in place of an error is told so far and no further. */
const LONGEST_MESSAGE = 2_000;

/** https://platform.claude.com/docs/en/api/errors */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** What a status is called, where the provider gave no name itself. */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  ...ANTHROPIC_TYPES,
  503: 'service_unavailable',
};

const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The status that an error in the middle of a stream would have had as an answer. */
export function statusOfErrorType(type: string): number {
  return Object.hasOwn(STATUSES, type) ? STATUSES[type]! : 500;
}

/** What an error body says, whichever dialect it is in, or none. */
type ErrorDetails = { message: string; type: string | null; code: unknown; param: unknown };

/** Reads `{error: {message, type, …}}`, the shape that both dialects share, and bodies of no shape at all. */
function readError(status: number, body: string): ErrorDetails {
  const error = errorMember(body);
  const said = error === null ? (body.trim() === '' ? null : body.trim()) : textOrNull(error.message);
  const message = said ?? `The provider answered with the status ${status}`;
  return {
    message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message,
    type: textOrNull(error?.type),
    code: error?.code ?? null,
    param: error?.param ?? null,
  };
}

function errorMember(body: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isObject(parsed)) return null;
    if (typeof parsed.error === 'string') return { message: parsed.error };
    return isObject(parsed.error) ? parsed.error : parsed;
  } catch {
    return null;
  }
}

/** Anthropic's name for errors with a status. */
export function anthropicErrorType(status: number): string {
  return typeOf(ANTHROPIC_TYPES, status);
}

function typeOf(types: Readonly<Record<number, string>>, status: number): string {
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/**
 * How Anthropic says that a conversation does not fit its model. It has no code for it, and OpenAI's clients look for
 * theirs: https://platform.claude.com/docs/en/build-with-claude/context-windows
 */
const CONTEXT_OVERFLOW = /^prompt is too long\b|^input length and `?max_tokens`? exceed context limit\b/i;

/** An Anthropic provider's error body as OpenAI's clients read it. */
export function toOpenAiError(status: number, body: string): JsonObject {
  const { message, type, code, param } = readError(status, body);
  const isOverflow = code === null && (status === 400 || status === 413) && CONTEXT_OVERFLOW.test(message);
  return {
    error: {
      message,
      type: type ?? typeOf(OPENAI_TYPES, status),
      param,
      code: isOverflow ? 'context_length_exceeded' : code,
    },
  };
}

/**
 * An OpenAI-dialect error body, a provider's or the gateway's own, as Anthropic's clients read it. Types are Anthropic's
 * by the status: OpenAI's mean other things by the same names.
 * @param requestId shown as `request_id`, where given
 */
export function toAnthropicError(status: number, body: string, requestId: string | null = null): JsonObject {
  const error = { type: anthropicErrorType(status), message: readError(status, body).message };
  return { type: 'error', error, ...(requestId === null ? {} : { request_id: requestId }) };
}
