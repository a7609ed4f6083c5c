/** Why a call failed, as far as its caller can act on it. */
export type OutboundFailure =
  /** The address is not allowed: never try again. */
  | 'forbidden'
  /** The response was a redirect, which is not followed. */
  | 'redirect'
  | 'timeout'
  /** There was no connection, or it was lost before the response was complete. */
  | 'unreachable'
  | 'too_large';

/** A call without a response. The message is public: it names the host, never the rest of the URL. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'OutboundError';
    this.failure = failure;
  }
}
