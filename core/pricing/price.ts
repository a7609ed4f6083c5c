/**
 * Prices and the models they are known for, from the registry of `@pydantic/genai-prices`, which keeps price history,
 * tiers and cached-token prices. Pure: the time is given, the data ship with the package.
 */
import { calcPrice } from '@pydantic/genai-prices';
import type { Usage } from '../chat/mod.ts';
import { applyPlainPrice, plainPrice } from './plain-price.ts';

/** Which list a cost came from, stored with it so that history can be explained. */
export const PRICE_SOURCE = 'genai-prices@0.1.8';

/** Our provider names as the registry has them; a provider that is not here has no known prices. */
const REGISTRY_NAMES: Record<string, string> = {
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure',
  google: 'google',
  mistral: 'mistral',
  groq: 'groq',
  deepseek: 'deepseek',
  xai: 'x-ai',
  together: 'together',
  openrouter: 'openrouter',
};

export type PricedCall = {
  /** Lower-case provider name. */
  provider: string;
  /** Candidates, best first: the model that answered, then the one asked for. */
  models: (string | null)[];
  usage: Usage;
  /** When the call was made: prices change. Milliseconds since the epoch. */
  atMs: number;
};

const NANO_PER_USD = 1e9;

/** Whether the registry has a price for this provider's model today. */
export function knowsModel(provider: string, model: string): boolean {
  const registryName = REGISTRY_NAMES[provider];
  return (
    registryName !== undefined && calcPrice({ input_tokens: 1 }, model, { providerId: registryName }) !== null
  );
}

/** What a call cost, in whole nano-dollars; null (never 0) when none of its models has a known price. */
export function priceCall(call: PricedCall): number | null {
  const registryName = REGISTRY_NAMES[call.provider];
  if (registryName === undefined) return null;
  for (const model of call.models) {
    if (model === null || model === '') continue;
    const price = priceOf(call, model, registryName);
    if (price !== null) return Math.round(price * NANO_PER_USD);
  }
  return null;
}

function priceOf({ usage, atMs }: PricedCall, model: string, registryName: string): number | null {
  if (usage.inputAudioTokens === 0 && usage.outputAudioTokens === 0) {
    const plain = plainPrice(registryName, model);
    if (plain !== null) return applyPlainPrice(plain, usage);
  }
  const quantities = {
    input_tokens: usage.promptTokens,
    cache_read_tokens: usage.cachedTokens,
    output_tokens: usage.completionTokens,
    input_audio_tokens: usage.inputAudioTokens,
    output_audio_tokens: usage.outputAudioTokens,
  };
  try {
    const options = { providerId: registryName, timestamp: new Date(atMs) };
    return calcPrice(quantities, model, options)?.total_price ?? null;
  } catch {
    // The registry throws on counts that contradict each other (more cached tokens than prompt tokens): no price then.
    return null;
  }
}
