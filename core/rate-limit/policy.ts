/**
 * The grammar of a rate-limit policy:
 *
 *     <quota>;w=<seconds>[;u=request|cents][;s=<segment>]
 *
 * Case and space around a part do not matter; the parts after the quota may come in any order, each at most once.
 * Anything else is rejected with an error that names the part: a policy that cannot be read must never mean no limit.
 */
import { AssayError } from '../contracts/errors.ts';

/** The unit of a quota: calls, their cost in cents, or the logs of an organization (which no policy header can set). */
export type Unit = 'request' | 'cents' | 'log';

/** A parsed policy. */
export type Policy = {
  /** Canonical form, with every part written out: `100;w=60;u=request;s=user`. */
  text: string;
  unit: Unit;
  /**
   * Maximum use in any interval of the window: requests or logs; for `cents` whole nano-dollars, 10,000,000 to a cent.
   */
  quota: number;
  windowS: number;
  /** `user`, or the name of a property, in lower case; null for one counter for all calls. */
  segment: string | null;
};

/** Nano-dollars of a cent. */
export const NANO_PER_CENT = 10_000_000;
/** A nano-dollar is the seventh decimal of a cent, and the smallest amount that is counted. */
const CENT_DIGITS = 7;
const MAX_QUOTA = 1_000_000_000;
const WINDOW_S = { min: 60, max: 31_536_000 };
const SEGMENT = /^[a-z0-9_-]{1,64}$/;
/** Length of a quotation in an error message: enough to find the part. */
const QUOTED_CHARACTERS = 64;
/** Window of the limit on logs, which no header can set. */
export const LOG_WINDOW_S = 5;

const quote = (part: string) => JSON.stringify(part.slice(0, QUOTED_CHARACTERS));

function invalid(part: string, rule: string): AssayError {
  return new AssayError('invalid_rate_limit_policy', `Invalid rate-limit policy: ${part} ${rule}`);
}

/**
 * Parses the header `Service-RateLimit-Policy`, or the default policy of an API key.
 * @throws AssayError invalid_rate_limit_policy
 */
export function parsePolicy(text: string): Policy {
  if (text.includes(',')) throw invalid(quote(text), 'contains more than one policy; only one is allowed');
  const [quotaText, ...rest] = text.split(';').map(trimSpace);
  const parts = readParts(rest);
  const unit = readUnit(parts.get('u'));
  const quota = readQuota(quotaText ?? '', unit);
  const windowS = readWindow(parts.get('w'));
  const segment = readSegment(parts.get('s'));
  const tail = segment === null ? '' : `;s=${segment}`;
  return { text: `${quota.text};w=${windowS};u=${unit}${tail}`, unit, quota: quota.amount, windowS, segment };
}

/** Returns the policy for an organization's logs: at most `logsPer5S` in any five seconds. */
export function logPolicy(logsPer5S: number): Policy {
  return {
    text: `${logsPer5S};w=${LOG_WINDOW_S};u=log`,
    unit: 'log',
    quota: logsPer5S,
    windowS: LOG_WINDOW_S,
    segment: null,
  };
}

/** Removes spaces and tabs, the only optional whitespace of HTTP, at both ends. */
function trimSpace(part: string): string {
  const from = part.search(/[^ \t]/);
  return from === -1 ? '' : part.slice(from, endBefore(part, ' \t'));
}

/**
 * Returns where the last characters of a text begin that are all of `set`. By hand: a regular expression tries each row of them
 * again from each of its places, which takes seconds for the longest header.
 */
function endBefore(text: string, set: string): number {
  let end = text.length;
  while (end > 0 && set.includes(text[end - 1]!)) end -= 1;
  return end;
}

function readParts(parts: readonly string[]): Map<string, string> {
  const read = new Map<string, string>();
  for (const part of parts) {
    const [, name = '', value = ''] = /^([wus])=(.*)$/s.exec(part.toLowerCase()) ?? [];
    if (name === '') throw invalid(`part ${quote(part)}`, 'must be w=<seconds>, u=<unit> or s=<segment>');
    if (read.has(name)) throw invalid(`part ${quote(part)}`, `repeats ${name}, which may occur only once`);
    read.set(name, value);
  }
  return read;
}

function readUnit(value: string | undefined): 'request' | 'cents' {
  if (value === undefined) return 'request';
  if (value === 'request' || value === 'cents') return value;
  throw invalid(`unit ${quote(value)}`, 'must be request or cents');
}

function readWindow(value: string | undefined): number {
  if (value === undefined)
    throw invalid('w', 'is missing: give the length of the window in seconds, as in w=60');
  const seconds = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (seconds >= WINDOW_S.min && seconds <= WINDOW_S.max) return seconds;
  throw invalid(
    `window ${quote(value)}`,
    `must be a whole number of seconds from ${WINDOW_S.min} to ${WINDOW_S.max}`,
  );
}

function readSegment(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (SEGMENT.test(value)) return value;
  throw invalid(`segment ${quote(value)}`, 'must be 1 to 64 letters, digits, hyphens or underscores');
}

function readQuota(text: string, unit: 'request' | 'cents'): { text: string; amount: number } {
  const [, written = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  // Without zeros before them; of zeros alone, the last.
  const digits = written.slice(Math.max(0, Math.min(written.search(/[^0]|$/), written.length - 1)));
  if (digits === '') throw invalid(`quota ${quote(text)}`, 'must be a number, as in 100');
  if (unit === 'request' && text.includes('.')) {
    throw invalid(`quota ${quote(text)}`, 'must be a whole number of requests');
  }
  const decimals = fraction.slice(0, endBefore(fraction, '0'));
  if (decimals.length > CENT_DIGITS) {
    throw invalid(`quota ${quote(text)}`, `may have at most ${CENT_DIGITS} decimals`);
  }
  const canonical = decimals === '' ? digits : `${digits}.${decimals}`;
  if (Number(canonical) === 0) throw invalid(`quota ${quote(text)}`, 'must be more than 0');
  if (Number(digits) > MAX_QUOTA || (Number(digits) === MAX_QUOTA && decimals !== '')) {
    throw invalid(`quota ${quote(text)}`, `must be at most ${MAX_QUOTA}`);
  }
  if (unit === 'request') return { text: canonical, amount: Number(digits) };
  return { text: canonical, amount: Number(digits + decimals.padEnd(CENT_DIGITS, '0')) };
}
