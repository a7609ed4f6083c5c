import { storableText } from '../contracts/storable-text.ts';
import { isRawNumber, type JsonObject, parseExactJson, type RawNumber } from '../json-values/mod.ts';
import { isCompact } from './compact.ts';

/** Maximum nesting: deeper than any real body; Postgres's jsonb runs out of stack at some thousands. */
const MAX_DEPTH = 512;
/** Replaces infinity. Postgres's numeric holds more, but a JavaScript number holds nothing much larger. */
const TOO_LARGE = 1e308;
/** Characters. Postgres's numeric has 16,383 digits after the point, some 300 of which an exponent may take. */
const LONGEST_NUMBER = 16_000;

/** JSON as text that Postgres can cast to jsonb. */
export type StorableJson = {
  text: string;
  /** True when the text is JSON.stringify's: nothing had to be replaced. */
  isWhole: boolean;
};

/**
 * Writes a parsed JSON value as text that Postgres can cast to jsonb: no NUL, no lone surrogate, no number out of range,
 * at most 512 levels (deeper values become null). Filters search this text; the original bytes are kept beside it.
 */
export function storableJson(value: unknown): StorableJson {
  const isWhole = isWithin(value, MAX_DEPTH);
  const plain = JSON.stringify(isWhole ? value : cut(value, MAX_DEPTH));
  // Stringify writes NUL and lone surrogates as escapes, which only jsonb refuses: only these rare texts are parsed again.
  if (!plain.includes('\\u') || !/\\u(0000|d[89a-f])/.test(plain)) return { text: plain, isWhole };
  const text = JSON.stringify(clean(parseExactJson(plain)));
  return { text, isWhole: isWhole && text === plain };
}

/** Returns whether `text`, whose parsed value is `value`, equals the text that `storableJson` would return. False when in doubt. */
export function isStorableJson(text: string, value: JsonObject): boolean {
  return isCompact(text, value, MAX_DEPTH);
}

/** Returns whether the value is nested at most `depth` levels and every number is finite: then it is used unchanged. */
function isWithin(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (isRawNumber(value)) return isStorableNumber(value);
  return depth > 0 && Object.values(value).every((item) => isWithin(item, depth - 1));
}

function isStorableNumber({ rawJSON }: RawNumber): boolean {
  return rawJSON.length <= LONGEST_NUMBER && Number.isFinite(Number(rawJSON));
}

/** Returns a copy in which values that Postgres refuses are replaced: deeper levels by null, numbers by the nearest allowed. */
function cut(value: unknown, depth: number): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : TOO_LARGE * Math.sign(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isRawNumber(value)) return isStorableNumber(value) ? value : cut(Number(value.rawJSON), depth);
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => cut(item, depth - 1));
  return fromEntries(Object.entries(value).map(([name, item]) => [name, cut(item, depth - 1)]));
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map(clean);
  return fromEntries(Object.entries(value).map(([name, item]) => [storableText(name), clean(item)]));
}

/** Returns an object without a prototype, so that a member called `__proto__` stays a member. */
function fromEntries(entries: [string, unknown][]): object {
  const result: Record<string, unknown> = Object.create(null);
  for (const [name, value] of entries) result[name] = value;
  return result;
}
