/** Whose models can be used at once: those of providers that some key here opens. */

import type { CatalogModel } from '#core/models/mod.ts';
import type { ProviderConfig, ProviderName } from '#platform/config/mod.ts';
import { PROVIDERS } from '../providers/registry.ts';

/** Returns the providers that the operator has configured: with a key, or with an address where no key is needed. */
export function operatorsProviders(providers: Record<ProviderName, ProviderConfig>): Set<ProviderName> {
  const names = Object.keys(providers) as ProviderName[];
  return new Set(
    names.filter((name) => {
      const { apiKey, baseUrl } = providers[name];
      const { needsKey, baseUrl: usual } = PROVIDERS[name];
      return (baseUrl ?? usual) !== null && (apiKey !== null || !needsKey);
    }),
  );
}

/** Returns the models of configured providers; all of them where none is, as callers then bring their own keys. */
export function usableModels(
  models: readonly CatalogModel[],
  configured: ReadonlySet<ProviderName>,
): readonly CatalogModel[] {
  return configured.size === 0 ? models : models.filter(({ provider }) => configured.has(provider));
}
