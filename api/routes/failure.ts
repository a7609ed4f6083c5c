import { AssayError, describeError } from '#core/contracts/errors.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { isStoreUnavailable } from '#platform/postgres/mod.ts';

const QUERY_CANCELED = '57014';

/** What went wrong as an error of the table; what is not expected becomes internal_error, its detail for the log. */
export function toAssayError(error: unknown): AssayError {
  if (error instanceof AssayError) return error;
  const detail = describeError(error);
  if (isStoreUnavailable(error)) {
    return new AssayError('store_unavailable', 'The store of requests is unavailable now: try again', {
      cause: error,
      detail,
    });
  }
  if ((error as { code?: unknown } | null)?.code === QUERY_CANCELED) {
    const message =
      'The query took too long: narrow it, for example by request.created_at, or compare fields other than bodies and values';
    return new AssayError('query_too_slow', message, { cause: error, detail });
  }
  return new AssayError('internal_error', 'Something went wrong in Assay; its log has the details', {
    cause: error,
    detail,
  });
}

/** The body of an answer that tells of a failure. */
export function failureBody({ message }: AssayError): string {
  return JSON.stringify({ data: null, error: message });
}

/** A failure as the management API tells it. */
export function failureReply(error: AssayError): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  if (error.status === 503) headers['retry-after'] = '1';
  return new Reply(failureBody(error), { status: error.status, headers });
}
