/** Prices of tokens, and exact arithmetic with them: whole numbers from the price to the cost. */
import type { Usage } from '../chat/mod.ts';
import { type PriceFactor, STANDARD } from './service-tier.ts';

/**
 * Pico-dollars for a token, equal to USD for a million tokens times a million: a whole number for every known price.
 * A kind of token without a price of its own (null) has the price of the kind that it is part of: cached and written
 * tokens are input, tokens kept for an hour are written ones, reasoning is output.
 */
export type TokenPrice = {
  input: bigint;
  cacheRead: bigint | null;
  cacheWrite: bigint | null;
  cacheWriteHour: bigint | null;
  output: bigint;
  reasoning: bigint | null;
  /** Pico-dollars for a search of the web; null: not known. */
  webSearch: bigint | null;
};

const PICO_PER_NANO = 1_000n;
const DECIMALS = 1e6;
/** The largest error of a decimal fraction as a double. */
const EPSILON = 1e-6;

/** Converts USD for a million tokens to pico-dollars a token; null when there are more than six decimals. */
export function toPico(usdPerMillion: number): bigint | null {
  const scaled = usdPerMillion * DECIMALS;
  const whole = Math.round(scaled);
  return Math.abs(scaled - whole) <= EPSILON * Math.max(1, whole) ? BigInt(whole) : null;
}

/**
 * Returns the cost of a call with text alone, in whole nano-dollars, rounded half up; null when its counts contradict
 * each other: a part has more tokens than the whole.
 * @param factor for all tokens, by the tier of service
 */
export function costOfTokens(
  price: TokenPrice,
  usage: Usage,
  { numerator, denominator }: PriceFactor = STANDARD,
): number | null {
  const read = price.cacheRead === null ? 0 : usage.cachedTokens;
  const written = price.cacheWrite === null ? 0 : usage.cacheWriteTokens;
  const kept = price.cacheWriteHour === null ? 0 : Math.min(usage.cacheWriteHourTokens, written);
  const reasoning = price.reasoning === null ? 0 : Math.min(usage.reasoningTokens, usage.completionTokens);
  const other = usage.promptTokens - read - written;
  if (other < 0) return null;
  const pico =
    price.input * BigInt(other) +
    (price.cacheRead ?? 0n) * BigInt(read) +
    (price.cacheWrite ?? 0n) * BigInt(written - kept) +
    (price.cacheWriteHour ?? 0n) * BigInt(kept) +
    price.output * BigInt(usage.completionTokens - reasoning) +
    (price.reasoning ?? 0n) * BigInt(reasoning);
  const searches = (price.webSearch ?? 0n) * BigInt(usage.webSearches);
  const unit = PICO_PER_NANO * denominator;
  return Number((pico * numerator + searches * denominator + unit / 2n) / unit);
}
