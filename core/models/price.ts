/**
 * The cost of a call by the registry of `@pydantic/genai-prices`, which keeps price history, tiers, and prices of cached,
 * written and reasoning tokens. Pure: the time is given, the data ship with the package.
 */
import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';
import type { Usage } from '../chat/mod.ts';
import { createPlainPrice, type PlainPrice } from './plain-price.ts';
import { registryNameOf } from './registry.ts';
import { priceFactor } from './service-tier.ts';
import { costOfTokens } from './token-price.ts';

/** The properties of a call that its price depends on. */
export type PricedCall = {
  /** Lower-case provider name. */
  provider: string;
  /** Candidates, best first: the model that responded, then the one that was requested. */
  models: (string | null)[];
  usage: Usage;
  /** When the call was made: prices change. Milliseconds since the epoch. */
  atMs: number;
};

const NANO_PER_USD = 1e9;
const THOUSAND = 1_000;

/** Returns the names that the price of a call can be looked up by, best first: as they are, then without the provider's prefix. */
export function priceNames({ provider, models }: PricedCall): string[] {
  // A loop, as this is done twice for each call under a limit in money.
  const names: string[] = [];
  for (const model of models) {
    if (model === null || model === '') continue;
    names.push(model);
    const rest = model.startsWith(provider) && model[provider.length] === '/' ? provider.length + 1 : 0;
    if (rest > 0 && rest < model.length) names.push(model.slice(rest));
  }
  return names;
}

/** Returns the cost of a call in whole nano-dollars; null (never 0) when none of its models has a known price. */
export type PriceCall = (call: PricedCall) => number | null;

/** Makes a pricer with a memory of its own for the prices of models. */
export function createPriceCall(): PriceCall {
  const plainPrice = createPlainPrice();
  return (call) => {
    // OpenRouter bills what it says, whichever of its providers has answered; the registry knows the prices of some of its models.
    if (call.provider === 'openrouter' && call.usage.toldNano !== null) return call.usage.toldNano;
    const registryName = registryNameOf(call.provider);
    if (registryName === null) return null;
    for (const model of priceNames(call)) {
      const cost = costOf(call, model, registryName, plainPrice);
      if (cost !== null) return cost;
    }
    return null;
  };
}

function costOf(
  { provider, usage, atMs }: PricedCall,
  model: string,
  registryName: string,
  plainPrice: PlainPrice,
): number | null {
  const factor = priceFactor(provider, model, usage);
  if (factor === null) return null;
  if (isText(usage)) {
    const plain = plainPrice(registryName, model);
    if (plain !== null) return costOfTokens(plain, usage, factor);
  }
  const quantities = {
    input_tokens: usage.promptTokens,
    cache_read_tokens: usage.cachedTokens,
    cache_audio_read_tokens: leastCached(usage, usage.inputAudioTokens),
    cache_image_read_tokens: leastCached(usage, usage.inputImageTokens),
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: Math.min(usage.cacheWriteHourTokens, usage.cacheWriteTokens),
    output_tokens: usage.completionTokens,
    output_reasoning_tokens: Math.min(usage.reasoningTokens, usage.completionTokens),
    input_audio_tokens: usage.inputAudioTokens,
    output_audio_tokens: usage.outputAudioTokens,
    // Images without a price of their own cost as much as text.
    input_image_tokens: usage.inputImageTokens,
    output_image_tokens: usage.outputImageTokens,
  };
  try {
    const options = { providerId: registryName, timestamp: new Date(atMs) };
    const found = calcPrice(quantities, model, options);
    if (found === null || !hasAudioPrice(provider, found.model_price, usage)) return null;
    const tokens = (found.total_price * Number(factor.numerator)) / Number(factor.denominator);
    const searchPrice = found.model_price.web_searches_kcount;
    const searches = typeof searchPrice === 'number' ? (usage.webSearches * searchPrice) / THOUSAND : 0;
    return Math.round((tokens + searches) * NANO_PER_USD);
  } catch {
    // The registry throws on counts that contradict each other (more cached tokens than prompt tokens): no price then.
    return null;
  }
}

/**
 * Returns whether the audio of a call has a price. The registry counts audio without one as text, which is right for Google's
 * models, whose audio costs as much where no price is named; elsewhere audio costs up to 67 times as much.
 */
function hasAudioPrice(provider: string, price: ModelPrice, usage: Usage): boolean {
  if (provider === 'google') return true;
  const isInputPriced = usage.inputAudioTokens === 0 || price.input_audio_mtok !== undefined;
  return isInputPriced && (usage.outputAudioTokens === 0 || price.output_audio_mtok !== undefined);
}

function isText(usage: Usage): boolean {
  const audio = usage.inputAudioTokens + usage.outputAudioTokens;
  return audio + usage.inputImageTokens + usage.outputImageTokens === 0;
}

/**
 * Returns the cached tokens that have to be of a kind (audio or images), as the rest of the prompt is shorter. Providers report how much
 * was cached and how much was of the kind, and not how much was both: of what is possible this costs the most, so that no limit is overrun.
 */
function leastCached({ promptTokens, cachedTokens }: Usage, ofKind: number): number {
  return Math.max(0, cachedTokens + ofKind - promptTokens);
}
