/** What went wrong with a call, as far as whoever made it can act on it. */
export type OutboundFailure =
  /** The address is not one to be called: never try again. */
  | 'forbidden'
  /** The answer was a redirect, and those are not followed. */
  | 'redirect'
  | 'timeout'
  /** No connection, or it was lost before the answer was whole. */
  | 'unreachable'
  | 'too_large';

/** A call that brought no answer. The message is public: it names the host, never the rest of the URL. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'OutboundError';
    this.failure = failure;
  }
}
