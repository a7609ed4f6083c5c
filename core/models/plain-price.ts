/**
 * Prices of models with one price for each kind of token, at all times, as most have. Their costs are calculated without
 * the registry, whose general calculation checks the price list at each call and takes ten times as long.
 */
import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import { type TokenPrice, toPico } from './token-price.ts';

/** Names come from clients and providers: enough for the models in use, and a limit to invented names. */
const KNOWN_MODELS = 2_000;

/** Prices are read as those of a million tokens; searches have theirs by the thousand. */
const MILLION_PER_THOUSAND = 1_000n;

/** Returns the price of a model of the registry; null when it has none, or one that is not plain. */
export type PlainPrice = (registryName: string, model: string) => TokenPrice | null;

/** Makes a look-up that remembers the prices it has read. */
export function createPlainPrice(): PlainPrice {
  const known = new LRUCache<string, { price: TokenPrice | null }>({ max: KNOWN_MODELS });
  return (registryName, model) => {
    const key = `${registryName}/${model}`;
    let found = known.get(key);
    if (found === undefined) {
      found = { price: readPrice(registryName, model) };
      known.set(key, found);
    }
    return found.price;
  };
}

function readPrice(registryName: string, model: string): TokenPrice | null {
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { providerId: registryName });
  // A list of prices depends on the time.
  if (found === null || Array.isArray(found.model.prices)) return null;
  const prices: ModelPrice = found.model_price;
  // Calls priced here have no other kinds of token, but a price for each request would apply to them.
  if (Object.keys(prices).some((name) => name.startsWith('requests'))) return null;
  const [input, output] = [plain(prices.input_mtok), plain(prices.output_mtok)];
  const [cacheRead, cacheWrite, cacheWriteHour, reasoning, thousandSearches] = [
    plain(prices.cache_read_mtok),
    plain(prices.cache_write_mtok),
    plain(prices.cache_write_1h_mtok),
    plain(prices.output_reasoning_mtok),
    plain(prices.web_searches_kcount),
  ];
  if (input == null || output == null) return null;
  if ([cacheRead, cacheWrite, cacheWriteHour, reasoning, thousandSearches].includes(undefined)) return null;
  return {
    input,
    output,
    cacheRead: cacheRead ?? null,
    cacheWrite: cacheWrite ?? null,
    cacheWriteHour: cacheWriteHour ?? null,
    reasoning: reasoning ?? null,
    webSearch: thousandSearches == null ? null : thousandSearches * MILLION_PER_THOUSAND,
  };
}

/** Returns null when there is no price, undefined when there is one that cannot be calculated with here. */
function plain(price: ModelPrice[string]): bigint | null | undefined {
  if (price === undefined) return null;
  return typeof price === 'number' ? (toPico(price) ?? undefined) : undefined;
}
