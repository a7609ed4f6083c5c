/**
 * Which failures are worth another try, and where: the same call again to the same provider, or to the next one of its
 * list. Pure.
 */
import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import type { ResponseHeaders } from '#platform/http-client/mod.ts';

/** How a try ended. */
export type AttemptOutcome = {
  /** The provider's; 0: it did not answer. */
  status: number;
  headers: ResponseHeaders;
  /** Why it did not; null: it did. */
  errorCode: ErrorCode | null;
};

/** A call's headers about retries, as they came. */
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
 * How often a failed call is tried again at each of its models; 0: it did not ask for that.
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

/** The provider was not reached, or broke off before its answer had begun. */
const NO_ANSWER: ReadonlySet<ErrorCode> = new Set(['provider_unreachable', 'provider_timeout']);

/**
 * Failures that another provider does not share. `provider_busy` is the gateway's own bound for one provider: the call has
 * waited there already, so to try the same one again would only make its wait longer, but the next may have room.
 */
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set([...NO_ANSWER, 'provider_bad_answer', 'provider_busy']);

/** As OpenAI's and Anthropic's clients have it: a timeout, a lock, a rate limit, a failure of the provider's own. */
function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Whether the same call may have another outcome at the same provider. `x-should-retry` has the last word of an answer. */
export function isWorthRetrying({ status, headers, errorCode }: AttemptOutcome): boolean {
  if (errorCode !== null) return NO_ANSWER.has(errorCode);
  const word = headers['x-should-retry'];
  return word === 'true' || (word !== 'false' && isPassing(status));
}

/** Trouble with an account or a model, which another provider does not share. */
const THIS_PROVIDERS: ReadonlySet<number> = new Set([401, 402, 403, 404]);

/**
 * Whether the call may have another outcome at the next model of its list. What is the caller's own mistake (400, 413,
 * 422) would come again.
 */
export function isWorthFallingBack({ status, errorCode }: AttemptOutcome): boolean {
  if (errorCode !== null) return ELSEWHERE.has(errorCode);
  return isPassing(status) || THIS_PROVIDERS.has(status);
}

/** As the same clients wait: half a second at first, doubled each time, 8 seconds at most. */
const BACKOFF_MS = { first: 500, longest: 8_000 };
/**
 * A provider that wants to be left alone for longer is: the call goes on to the next model, or is answered with what the
 * provider said, `Retry-After` included, and the client, which knows whether anybody still waits, does the waiting.
 */
const LONGEST_RETRY_AFTER_MS = 10_000;

export type WaitOptions = {
  /** How many retries there were at this route before. */
  retriesBefore: number;
  /** Milliseconds since the epoch, for `Retry-After` with a date. */
  nowMs: number;
  /** Numbers in [0, 1). */
  random(): number;
};

/**
 * Milliseconds to wait before the same provider is tried again; null: longer than a call should be held. Anything from
 * nothing to the whole of the backoff, so that those who failed together do not come back together; what the provider
 * asked for comes on top.
 */
export function waitBeforeRetry({ headers }: AttemptOutcome, options: WaitOptions): number | null {
  const { retriesBefore, nowMs, random } = options;
  const askedMs = retryAfterMs(headers, nowMs);
  if (askedMs > LONGEST_RETRY_AFTER_MS) return null;
  return askedMs + random() * Math.min(BACKOFF_MS.first * 2 ** retriesBefore, BACKOFF_MS.longest);
}

const MS_PER_SECOND = 1_000;

/** How long a provider wants to be left alone; 0 where it does not say, or cannot be understood. */
function retryAfterMs(headers: ResponseHeaders, nowMs: number): number {
  // The second is Azure's.
  const ms = headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms'];
  if (isNumber(ms)) return Number(ms);
  const seconds = headers['retry-after'];
  if (seconds === undefined) return 0;
  if (isNumber(seconds)) return Number(seconds) * MS_PER_SECOND;
  const at = Date.parse(seconds);
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}

function isNumber(value: string | undefined): value is string {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value.trim());
}
