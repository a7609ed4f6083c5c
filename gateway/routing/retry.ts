/**
 * Decides which failures are worth another attempt, and where: at the same provider, or at the next one of the list. Pure.
 */
import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import type { ResponseHeaders } from '#platform/http-client/mod.ts';
import { readRetryAfter } from '#platform/http-message/mod.ts';
import { backoffMs } from '#platform/process/backoff.ts';

/** The end of an attempt. */
export type AttemptOutcome = {
  /** The provider's; 0: no response came. */
  status: number;
  headers: ResponseHeaders;
  /** Why no response came; null: one did. */
  errorCode: ErrorCode | null;
};

/** The headers of a call about retries, as they came. */
export type RetryHeaders = {
  /** `Service-Retry-Enabled` is on. */
  isEnabled: boolean;
  /** `Service-Retry-Num`; null: not sent. */
  num: string | null;
};

const DEFAULT_RETRIES = 3;
const MAX_RETRIES = 5;
const QUOTED_CHARACTERS = 80;

/**
 * Parses how often a failed call is tried again at each of its candidates; 0: the caller did not ask for retries.
 * @throws AssayError invalid_header
 */
export function parseRetries({ isEnabled, num }: RetryHeaders): number {
  if (!isEnabled) return 0;
  if (num === null) return DEFAULT_RETRIES;
  const retries = /^\d$/.test(num.trim()) ? Number(num) : 0;
  if (retries >= 1 && retries <= MAX_RETRIES) return retries;
  const quoted = num.slice(0, QUOTED_CHARACTERS);
  throw new AssayError(
    'invalid_header',
    `Cannot read the header Service-Retry-Num: it must be a whole number from 1 to ${MAX_RETRIES}, but is "${quoted}"`,
  );
}

/** The provider was not reached, or broke off before its response had begun. */
const NO_ANSWER: ReadonlySet<ErrorCode> = new Set(['provider_unreachable', 'provider_timeout']);

/**
 * Failures that another provider does not share. `provider_busy` is the gateway's own bound for one provider: the call has
 * waited there already, so another attempt there would only make its wait longer, but the next provider may have room.
 */
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set([...NO_ANSWER, 'provider_bad_answer', 'provider_busy']);

/** Returns whether a status is transient, as OpenAI's and Anthropic's clients see it: timeout, lock, rate limit, server failure. */
function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Returns whether the call may have another outcome at the same provider. `x-should-retry` of a response decides. */
export function isWorthRetrying({ status, headers, errorCode }: AttemptOutcome): boolean {
  if (errorCode !== null) return NO_ANSWER.has(errorCode);
  const advice = headers['x-should-retry'];
  return advice === 'true' || (advice !== 'false' && isTransient(status));
}

/** Trouble with an account or a model, which another provider does not share. */
const THIS_PROVIDERS: ReadonlySet<number> = new Set([401, 402, 403, 404]);

/**
 * Returns whether the call may have another outcome at the next model of its list. A mistake of the caller (400, 413, 422) would
 * be refused again.
 */
export function isWorthFallingBack({ status, errorCode }: AttemptOutcome): boolean {
  if (errorCode !== null) return ELSEWHERE.has(errorCode);
  return isTransient(status) || THIS_PROVIDERS.has(status);
}

/** The backoff of the same clients: half a second at first, doubled each time, 8 seconds at most. */
const BACKOFF = { firstMs: 500, longestMs: 8_000 };
/**
 * A provider that asks for a longer pause gets it: the call goes on to the next model, or the client gets the provider's
 * response, `Retry-After` included, and does the waiting, as it knows whether anybody still waits.
 */
const LONGEST_RETRY_AFTER_MS = 10_000;

export type WaitOptions = {
  /** Retries of this candidate so far. */
  retriesBefore: number;
  /** Milliseconds since the epoch, for `Retry-After` with a date. */
  nowMs: number;
  /** Numbers in [0, 1). */
  random(): number;
};

/**
 * Returns the milliseconds to wait before the same provider is tried again; null: longer than a call should be held. The
 * backoff is drawn between nothing and its whole, so that calls which failed together do not come back together; what the
 * provider asked for comes on top.
 */
export function waitBeforeRetry({ headers }: AttemptOutcome, options: WaitOptions): number | null {
  const { retriesBefore, nowMs, random } = options;
  const requestedMs = readRetryAfter(headers, nowMs) ?? 0;
  if (requestedMs > LONGEST_RETRY_AFTER_MS) return null;
  return requestedMs + random() * backoffMs(BACKOFF, retriesBefore);
}
