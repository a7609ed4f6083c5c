/** Outcomes of calls that did not end with the whole response of their provider. */
import { type AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import type { ProviderResponse } from '#platform/http-client/mod.ts';
import { Reply } from '#platform/http-server/mod.ts';
import type { Call, Outcome } from '../request/call.ts';
import { type HeaderPairs, ownErrorBody } from './reply.ts';

/** A response on its way to the client. */
export type ResponseRelay = {
  readonly call: Call;
  readonly response: ProviderResponse;
  /** The provider's name in error sentences. */
  readonly label: string;
  /** Our own headers, for the reply. */
  readonly headers: HeaderPairs;
  /** Commits what came of the call; resolves with whether it was kept. */
  record(outcome: Outcome): Promise<boolean>;
};

/** Returns the outcome of a call that got an error of ours. */
export function failedOutcome(call: Call, error: AssayError): Outcome {
  return {
    status: httpStatusOf(error),
    responseBody: ownErrorBody(error, call.endpoint.errors),
    contentType: 'application/json',
    contentEncoding: null,
    stream: false,
    ttftMs: null,
    truncated: true,
    errorCode: error.code,
  };
}

/**
 * Records that the client left. Nobody reads the reply: the server only wants one to end its work.
 * @param received what had come of the response
 */
export async function replyToLeft(record: ResponseRelay['record'], received: Buffer): Promise<Response> {
  await record({
    status: 499,
    responseBody: received,
    contentType: null,
    contentEncoding: null,
    stream: false,
    ttftMs: null,
    truncated: true,
    errorCode: 'client_closed_request',
  });
  return new Reply(null, { status: 499 });
}
