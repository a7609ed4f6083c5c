/** The errors of calls whose provider sent no complete response. */
import { AssayError, describeError } from '#core/contracts/errors.ts';
import { ProxyError } from '../proxy/mod.ts';

export function notAccepted(label: string, connectMs: number, isProxied: boolean): AssayError {
  return new AssayError(
    'provider_timeout',
    isProxied
      ? `The proxy opened no connection to the provider ${label} within ${connectMs} ms`
      : `The provider ${label} accepted no connection within ${connectMs} ms`,
  );
}

export function notAnswered(label: string, firstByteMs: number): AssayError {
  return new AssayError('provider_timeout', `The provider ${label} sent no answer within ${firstByteMs} ms`);
}

export function fellSilent(label: string, idleMs: number): AssayError {
  return new AssayError(
    'provider_timeout',
    `The provider ${label} was silent for ${idleMs} ms in the middle of its answer`,
  );
}

export function notReached(label: string, cause: Error | null): AssayError {
  const why = cause instanceof ProxyError ? `: ${cause.message}` : '';
  const known = cause instanceof ProxyError && cause.cause instanceof Error ? cause.cause : cause;
  return new AssayError(
    'provider_unreachable',
    `The provider ${label} could not be reached${why}`,
    causeOptions(known),
  );
}

export function closedEarly(label: string, cause: Error | null): AssayError {
  return new AssayError(
    'provider_unreachable',
    `The provider ${label} closed the connection before its answer was whole`,
    causeOptions(cause),
  );
}

/** Returns the error of a call whose organization holds as many connections as it may. */
export function organizationBusy(label: string, concurrency: number): AssayError {
  return new AssayError(
    'provider_busy',
    `Your organization has ${concurrency} calls under way to the provider ${label}, as many as it may have now; ${TRY_AGAIN}`,
  );
}

/** Returns the error of a call while all connections of the gateway are in use. */
export function connectionsBusy(label: string, connections: number): AssayError {
  return new AssayError(
    'provider_busy',
    `All ${connections} connections of the gateway to the provider ${label} are in use; ${TRY_AGAIN}`,
  );
}

const TRY_AGAIN = 'Retry-After says when to try again';

export function notHttp(label: string, cause: Error): AssayError {
  return new AssayError(
    'provider_bad_answer',
    `The provider ${label} sent an answer that is not valid HTTP/1.1: ${cause.message}`,
    { cause },
  );
}

/** Converts an exception in the gateway itself into an error that a client may read. */
export function failedHere(error: unknown): AssayError {
  if (error instanceof AssayError) return error;
  return new AssayError('internal_error', 'The gateway failed to make this call', {
    detail: describeError(error),
    cause: error,
  });
}

function causeOptions(cause: (Error & { code?: string }) | null): { cause?: Error; detail?: string } {
  return cause === null ? {} : { cause, detail: `${cause.code ?? cause.name}: ${cause.message}` };
}
