import { AssayError, describeError, httpStatusOf } from '#core/contracts/errors.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { isCancelled, isStoreUnavailable } from '#platform/postgres/mod.ts';
import { LoggingRateError } from '../log/mod.ts';
import { LoginRateError } from '../login/mod.ts';

/** Mostly a lack of locks: a statement locks every partition that it may read. */
const OUT_OF_MEMORY = '53200';
/** Failures that take longer to pass: other calls have what this one needs. */
const IS_BUSY: ReadonlySet<string> = new Set(['queries_busy', 'bodies_busy']);

/** A path exists, but not for the method of the request. */
export class MethodNotAllowedError extends AssayError {
  readonly allowed: readonly string[];

  constructor(method: string, allowed: readonly string[]) {
    super('method_not_allowed', `${method} is not allowed here; use ${allowed.join(' or ')}`);
    this.allowed = allowed;
  }
}

/** Returns a thrown value as an error of the table; an unexpected one becomes internal_error, with its detail for the log. */
export function toAssayError(error: unknown): AssayError {
  if (error instanceof AssayError) return error;
  const detail = describeError(error);
  const code = (error as { code?: unknown } | null)?.code;
  if (isStoreUnavailable(error) || code === OUT_OF_MEMORY) {
    return new AssayError('store_unavailable', 'The store of requests is unavailable now: try again', {
      cause: error,
      detail,
    });
  }
  if (isCancelled(error)) {
    const message =
      'The query took too long: narrow it, for example by request.created_at, or compare fields other than bodies and values';
    return new AssayError('query_too_slow', message, { cause: error, detail });
  }
  return new AssayError('internal_error', 'Something went wrong in Assay; its log has the details', {
    cause: error,
    detail,
  });
}

/** Returns the body of a failure. */
export function failureBody({ message }: AssayError): string {
  return JSON.stringify({ data: null, error: message });
}

/** Returns the response to a failure. */
export function failureReply(error: AssayError): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (httpStatusOf(error) === 401) headers['www-authenticate'] = 'Bearer';
  if (httpStatusOf(error) === 503) headers['retry-after'] = IS_BUSY.has(error.code) ? '5' : '1';
  if (error instanceof MethodNotAllowedError) headers.allow = error.allowed.join(', ');
  if (error instanceof LoggingRateError || error instanceof LoginRateError) {
    headers['retry-after'] = String(error.retryAfterS);
  }
  return new Reply(failureBody(error), { status: httpStatusOf(error), headers });
}
