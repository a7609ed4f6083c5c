/**
 * The error table. An error has a stable code, a public sentence and a private detail; the HTTP edge writes it in the
 * error format of the endpoint (OpenAI's on the gateway, `{data, error}` on the management API). docs/api/errors.md lists
 * the same codes, and a test compares both ways.
 */
export const ERROR_CODES = {
  invalid_http: { status: 400, type: 'invalid_request_error' },
  invalid_json: { status: 400, type: 'invalid_request_error' },
  invalid_body: { status: 400, type: 'invalid_request_error' },
  invalid_header: { status: 400, type: 'invalid_request_error' },
  threads_not_supported: { status: 400, type: 'invalid_request_error' },
  invalid_rate_limit_policy: { status: 400, type: 'invalid_request_error' },
  invalid_filter: { status: 400, type: 'invalid_request_error' },
  unknown_prompt: { status: 400, type: 'invalid_request_error' },
  provider_not_configured: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'invalid_request_error' },
  key_expired: { status: 401, type: 'invalid_request_error' },
  invalid_session: { status: 401, type: 'invalid_request_error' },
  invalid_login_token: { status: 401, type: 'invalid_request_error' },
  missing_scope: { status: 403, type: 'permission_error' },
  address_not_allowed: { status: 403, type: 'permission_error' },
  cross_site_request: { status: 403, type: 'permission_error' },
  path_not_allowed: { status: 403, type: 'permission_error' },
  model_not_allowed: { status: 403, type: 'permission_error' },
  provider_not_allowed: { status: 403, type: 'permission_error' },
  key_too_wide: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  endpoint_not_supported: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error' },
  request_id_in_use: { status: 409, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  websocket_not_supported: { status: 426, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  too_many_logins: { status: 429, type: 'rate_limit_error' },
  too_many_comparisons: { status: 429, type: 'rate_limit_error' },
  too_many_exports: { status: 429, type: 'rate_limit_error' },
  too_many_playground_calls: { status: 429, type: 'rate_limit_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  client_closed_request: { status: 499, type: 'invalid_request_error' },
  internal_error: { status: 500, type: 'internal_error' },
  gateway_unreachable: { status: 502, type: 'api_connection_error' },
  provider_unreachable: { status: 502, type: 'api_connection_error' },
  provider_bad_answer: { status: 502, type: 'api_error' },
  provider_busy: { status: 503, type: 'service_unavailable' },
  bodies_busy: { status: 503, type: 'service_unavailable' },
  queries_busy: { status: 503, type: 'service_unavailable' },
  store_unavailable: { status: 503, type: 'service_unavailable' },
  evaluators_unavailable: { status: 503, type: 'service_unavailable' },
  too_many_connections: { status: 503, type: 'service_unavailable' },
  outbox_unavailable: { status: 503, type: 'service_unavailable' },
  playground_busy: { status: 503, type: 'service_unavailable' },
  query_too_slow: { status: 503, type: 'service_unavailable' },
  provider_timeout: { status: 504, type: 'timeout_error' },
  gateway_timeout: { status: 504, type: 'timeout_error' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes of recorded calls that the gateway refused before it called any provider. */
export const NOT_TRIED: ReadonlySet<string> = new Set<ErrorCode>(['rate_limit_exceeded']);

/** An expected failure. `message` is public; `detail` goes to the service's own log only. */
export class AssayError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;

  constructor(code: ErrorCode, message: string, options: { detail?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'AssayError';
    this.code = code;
    this.detail = options.detail;
  }
}

/** Returns the HTTP status of an error. No getter of the class: the dashboard has the class, and would have the table with it. */
export function httpStatusOf({ code }: AssayError): number {
  return ERROR_CODES[code].status;
}

/** Returns the message of anything thrown, for logs. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
