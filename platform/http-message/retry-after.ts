/** Header fields by lower-case name, as Node and the provider client give them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const MS_PER_SECOND = 1_000;
const NUMBER = /^\d+(?:\.\d+)?$/;
/** A date begins with the name of a day (RFC 9110) or with a year (ISO 8601); `Date.parse` reads dates into more. */
const DATE = /^[a-z]{3}|^\d{4}-\d\d-\d\d/i;
/** The one date format of RFC 9110 without a zone, `Sun Nov  6 08:49:37 1994`, is in GMT too. */
const ASCTIME = /^[a-z]{3} [a-z]{3} [\d ]\d \d\d:\d\d:\d\d \d{4}$/i;

/**
 * Returns how long a response asks its reader to wait, in whole milliseconds; null without a readable value.
 * `retry-after-ms` (OpenAI) and `x-ms-retry-after-ms` (Azure) are more exact than `Retry-After` and take precedence.
 * `Retry-After` is a number of seconds, also with a fraction, or a date. A date in the past is 0. The caller must bound the
 * wait: it may be infinite.
 *
 * @param nowMs milliseconds since the epoch
 */
export function readRetryAfter(headers: Headers, nowMs: number): number | null {
  return (
    numberOf(headers['retry-after-ms'], 1) ??
    numberOf(headers['x-ms-retry-after-ms'], 1) ??
    numberOf(headers['retry-after'], MS_PER_SECOND) ??
    untilDate(headers['retry-after'], nowMs)
  );
}

type Value = string | readonly string[] | undefined;

/** Returns the first of several values. */
function textOf(value: Value): string {
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

function numberOf(value: Value, unitMs: number): number | null {
  const text = textOf(value);
  return NUMBER.test(text) ? Math.ceil(Number(text) * unitMs) : null;
}

function untilDate(value: Value, nowMs: number): number | null {
  const text = textOf(value);
  if (!DATE.test(text)) return null;
  const at = Date.parse(ASCTIME.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil(at - nowMs));
}
