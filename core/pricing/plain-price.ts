/**
 * Most models have one price for each kind of token, at all times. For those the arithmetic is done here: the registry's
 * general one checks the price list anew at each call, which takes ten times as long.
 */
import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import type { Usage } from '../chat/mod.ts';

/** USD for a million tokens. Without `cacheRead`, cached tokens cost what others do. */
export type PlainPrice = { input: number; output: number; cacheRead: number | null };

/** Names come from callers and providers: some thousands that are in use, not all that there ever were. */
const KNOWN_MODELS = 2_000;
const TOKENS_PER_PRICE = 1e6;

const known = new LRUCache<string, { price: PlainPrice | null }>({ max: KNOWN_MODELS });

/** The price of a model of the registry's; null when it has none, or not a plain one. */
export function plainPrice(registryName: string, model: string): PlainPrice | null {
  const key = `${registryName}/${model}`;
  let found = known.get(key);
  if (found === undefined) {
    found = { price: readPrice(registryName, model) };
    known.set(key, found);
  }
  return found.price;
}

function readPrice(registryName: string, model: string): PlainPrice | null {
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { providerId: registryName });
  // A list of prices is one that changes with time.
  if (found === null || Array.isArray(found.model.prices)) return null;
  const prices: ModelPrice = found.model_price;
  const { input_mtok: input, output_mtok: output, cache_read_mtok: cacheRead } = prices;
  // Other kinds of token are not counted in such a call; a price for the call itself would be owed.
  if (Object.keys(prices).some((name) => name.startsWith('requests'))) return null;
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  if (cacheRead !== undefined && typeof cacheRead !== 'number') return null;
  return { input, output, cacheRead: cacheRead ?? null };
}

/** USD for a call without audio; null when more tokens were cached than there were. */
export function applyPlainPrice(price: PlainPrice, usage: Usage): number | null {
  const cached = price.cacheRead === null ? 0 : usage.cachedTokens;
  if (cached > usage.promptTokens) return null;
  const input =
    (price.input * (usage.promptTokens - cached)) / TOKENS_PER_PRICE +
    ((price.cacheRead ?? 0) * cached) / TOKENS_PER_PRICE;
  return input + (price.output * usage.completionTokens) / TOKENS_PER_PRICE;
}
