/** Translates a provider's error into the other dialect. Status and message stay, and Anthropic's type. */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';

/** Limit of a message in characters: a provider may send a page of HTML in place of an error. */
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

/** The error type for a status, where the provider gave none. */
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
  // Types of Hugging Face's server. The first is a mistake of the client, as invalid_request_error is.
  validation: 400,
  overloaded: 429,
};

/**
 * Returns the status that an error within a stream would have had as a response of its own, by what providers say of it:
 * a number (OpenRouter), or the error's type. Null: there is no error.
 */
export function errorStatus(error: unknown): number | null {
  return isObject(error) ? statusOfError(error) : null;
}

/** The same for what is an error. */
export function statusOfError({ code, status: said, type }: JsonObject): number {
  for (const value of [code, said]) {
    // A list is not converted: it may be nested deeper than the stack.
    const status = isObject(value) || Array.isArray(value) ? Number.NaN : Number(value);
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return typeof type === 'string' && Object.hasOwn(STATUSES, type) ? STATUSES[type]! : 500;
}

/** The fields of an error body in either dialect, or of one in no known form. */
type ErrorDetails = { message: string; type: string | null; code: unknown; param: unknown };

/**
 * Reads `{error: {message, type, …}}`, the shape that both dialects share. Any other body is taken as the message, also one
 * whose message is no text: Mistral's is a list of the fields that it refuses.
 */
function readError(status: number, body: string): ErrorDetails {
  const error = errorMember(body);
  const message =
    textOrNull(error?.message) || body.trim() || `The provider answered with the status ${status}`;
  return {
    message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message,
    type: textOrNull(error?.type),
    code: error?.code ?? null,
    param: error?.param ?? null,
  };
}

function errorMember(body: string): JsonObject | null {
  try {
    const json: unknown = JSON.parse(body);
    // Google's errors are lists of one.
    const parsed: unknown = Array.isArray(json) ? json[0] : json;
    if (!isObject(parsed)) return null;
    if (typeof parsed.error === 'string') return { message: parsed.error };
    return isObject(parsed.error) ? parsed.error : parsed;
  } catch {
    return null;
  }
}

/** Returns Anthropic's error type for a status. */
export function anthropicErrorType(status: number): string {
  return typeOf(ANTHROPIC_TYPES, status);
}

function typeOf(types: Readonly<Record<number, string>>, status: number): string {
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/**
 * Anthropic's messages for a conversation that does not fit its model. Anthropic has no error code for it, and OpenAI's
 * clients look for OpenAI's: https://platform.claude.com/docs/en/build-with-claude/context-windows
 */
const CONTEXT_OVERFLOW_WORDS = 'prompt is too long';
const CONTEXT_OVERFLOW = /^prompt is too long\b|^input length and `?max_tokens`? exceed context limit\b/i;

/** Translates an Anthropic provider's error body into OpenAI's dialect. */
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
 * Translates an error body in OpenAI's dialect, a provider's or the gateway's own, into Anthropic's. The type follows from
 * the status, because OpenAI's types mean other things by the same names. That a conversation does not fit its model is said
 * in Anthropic's words, for which clients look: they shorten it and go on.
 * @param requestId shown as `request_id` when given
 */
export function toAnthropicError(status: number, body: string, requestId: string | null = null): JsonObject {
  const { message, code } = readError(status, body);
  const isOverflow = code === 'context_length_exceeded' && !CONTEXT_OVERFLOW.test(message);
  const error = {
    type: anthropicErrorType(status),
    message: isOverflow ? `${CONTEXT_OVERFLOW_WORDS}: ${message}` : message,
  };
  return { type: 'error', error, ...(requestId === null ? {} : { request_id: requestId }) };
}
