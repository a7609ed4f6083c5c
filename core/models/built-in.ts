/** The models that the registry knows and chat completions can use by their bare id. */

import type { ProviderName } from '../contracts/provider.ts';
import { makerOf } from './maker.ts';
import { CATALOG_ORDER, providerOf } from './provider-of.ts';
import { registryModels } from './registry.ts';
import { releasedAt } from './release-date.ts';
import { isServed } from './served.ts';

/** A model that chat completions can use. */
export type CatalogModel = {
  /** What to ask for. */
  id: string;
  provider: ProviderName;
  /** For people. */
  title: string;
  /** The organization that made it. */
  ownedBy: string;
  /** When it came out; seconds since the epoch. */
  created: number;
};

/** All of them, by id. */
export function builtInModels(): CatalogModel[] {
  const found = new Map<string, CatalogModel>();
  for (const provider of CATALOG_ORDER) {
    for (const model of modelsOf(provider)) if (!found.has(model.id)) found.set(model.id, model);
  }
  return [...found.values()];
}

function modelsOf(provider: ProviderName): CatalogModel[] {
  return registryModels(provider).flatMap(({ names, title, isPriced, isDeprecated, contextWindow }) => {
    if (!isPriced || isDeprecated) return [];
    // Where OpenRouter still serves a model, the registry has its context window: 199 of 210 were served on
    // 2026-08-18, and 69 of 383 of the others.
    if (provider === 'openrouter' && contextWindow === null) return [];
    return names
      .filter((name) => isServed(provider, name) && isBareId(provider, name))
      .map((id) => ({
        id,
        provider,
        title: id === names[0] ? (title ?? id) : id,
        ownedBy: makerOf(provider, id),
        created: releasedAt(id, names),
      }));
  });
}

/** Whether an id means this provider's model of that name, and not another's. */
function isBareId(provider: ProviderName, id: string): boolean {
  const meant = providerOf(id);
  return meant !== null && meant.provider === provider && meant.model === id;
}
