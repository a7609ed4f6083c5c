import { type EvaluationErrorCode, type FailedOutcome, publicMessage } from '#core/scoring/mod.ts';

/** An evaluation without a score. The message may still hold secrets: `toOutcome` masks them. */
export class ExternalFailure extends Error {
  readonly code: EvaluationErrorCode;
  readonly retry: FailedOutcome['retry'];
  readonly retryAfterMs: number | null;
  readonly pause: FailedOutcome['pause'];

  constructor(
    code: EvaluationErrorCode,
    message: string,
    options: Partial<Pick<FailedOutcome, 'retry' | 'retryAfterMs' | 'pause'>> = {},
  ) {
    super(message);
    this.name = 'ExternalFailure';
    this.code = code;
    this.retry = options.retry ?? 'never';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.pause = options.pause ?? null;
  }

  /** Converts the failure to an outcome. The message is masked before it is cut, so that no part of a secret stays. */
  toOutcome(mask: (text: string) => string): FailedOutcome {
    return {
      state: 'failed',
      code: this.code,
      message: publicMessage(mask(this.message)),
      retry: this.retry,
      retryAfterMs: this.retryAfterMs,
      pause: this.pause,
      traces: null,
    };
  }
}
