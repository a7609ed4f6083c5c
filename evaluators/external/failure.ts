import { type EvaluationErrorCode, type Outcome, publicMessage } from '#core/scoring/mod.ts';

type Failed = Extract<Outcome, { state: 'failed' }>;

/** An evaluation that brought no score. The message may still hold secrets: it is masked where it leaves. */
export class ExternalFailure extends Error {
  readonly code: EvaluationErrorCode;
  readonly retry: Failed['retry'];
  readonly retryAfterMs: number | null;
  readonly pause: Failed['pause'];

  constructor(
    code: EvaluationErrorCode,
    message: string,
    options: { retry?: Failed['retry']; retryAfterMs?: number | null; pause?: Failed['pause'] } = {},
  ) {
    super(message);
    this.name = 'ExternalFailure';
    this.code = code;
    this.retry = options.retry ?? 'never';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.pause = options.pause ?? null;
  }

  /** As an outcome, its message passed through `mask` before it is cut. */
  toOutcome(mask: (text: string) => string): Failed {
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
