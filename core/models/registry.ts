/**
 * The registry of `@pydantic/genai-prices`: providers, and their models by name. The data ship with the package.
 */
import { calcPrice, findProvider, type MatchLogic, type ModelInfo } from '@pydantic/genai-prices';
import type { ProviderName } from '../contracts/provider.ts';

/** The price list, stored with each cost so that old costs can be explained. */
export const PRICE_SOURCE = 'genai-prices@0.1.8';
/** The publication date of that version, which lacks newer models. */
export const REGISTRY_DATE = '2026-09-23';

/** The registry's names of our providers; null: none, so the provider has no known prices. */
const REGISTRY_NAMES: Readonly<Record<ProviderName, string | null>> = {
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
  custom: null,
};
/** A map, because providers of logged requests have any name, such as `constructor`. */
const NAME_IN_REGISTRY: ReadonlyMap<string, string | null> = new Map(Object.entries(REGISTRY_NAMES));

/** Returns a provider's name in the registry; null: none. */
export function registryNameOf(provider: string): string | null {
  return NAME_IN_REGISTRY.get(provider) ?? null;
}

/** Returns whether the registry has a price for this provider's model today. */
export function knowsModel(provider: string, model: string): boolean {
  const registryName = registryNameOf(provider);
  return (
    registryName !== null && calcPrice({ input_tokens: 1 }, model, { providerId: registryName }) !== null
  );
}

/** A model of the registry. */
export type RegistryModel = {
  /** The names without patterns: the registry's own first, then the synonyms. */
  names: string[];
  /** A readable name; null when there is none. */
  title: string | null;
  /** True when both input and output text have a price. */
  isPriced: boolean;
  isDeprecated: boolean;
  /** Tokens; null when unknown. */
  contextWindow: number | null;
};

/** Returns all models of a provider, in the registry's order. */
export function registryModels(provider: string): RegistryModel[] {
  const registryName = registryNameOf(provider);
  const found = registryName === null ? undefined : findProvider({ providerId: registryName });
  return (found?.models ?? []).map((model) => ({
    names: [...new Set([model.id, ...spelledOut(model.match)])],
    title: model.name ?? null,
    isPriced: isPriced(model),
    isDeprecated: model.deprecated ?? false,
    contextWindow: model.context_window ?? null,
  }));
}

function spelledOut(match: MatchLogic): string[] {
  if ('or' in match) return match.or.flatMap(spelledOut);
  return 'equals' in match ? [match.equals] : [];
}

function isPriced({ prices }: ModelInfo): boolean {
  const lists = Array.isArray(prices) ? prices.map((conditional) => conditional.prices) : [prices];
  return lists.every((list) => list.input_mtok !== undefined && list.output_mtok !== undefined);
}
