/** The models that can be used without a key of the caller's own: those of providers with a key here. */

import type { CatalogModel } from '#core/models/mod.ts';
import type { ProviderConfig, ProviderName } from '#platform/config/mod.ts';
import { PROVIDERS } from '../providers/registry.ts';

/** Returns the providers that the operator has configured: with a key, or with an address where no key is needed. */
export function operatorProviders(providers: Record<ProviderName, ProviderConfig>): Set<ProviderName> {
  const names = Object.keys(providers) as ProviderName[];
  return new Set(
    names.filter((name) => {
      const { apiKey, baseUrl } = providers[name];
      const { needsKey, baseUrl: publicUrl } = PROVIDERS[name];
      return (baseUrl ?? publicUrl) !== null && (apiKey !== null || !needsKey);
    }),
  );
}

/** Returns the models of configured providers; all models when none is configured, as callers then bring their own keys. */
export function usableModels(
  models: readonly CatalogModel[],
  configured: ReadonlySet<ProviderName>,
): readonly CatalogModel[] {
  return models.filter(({ provider }) => isUsable(provider, configured));
}

/** Returns whether models of a provider are usable. */
export function isUsable(provider: ProviderName, configured: ReadonlySet<ProviderName>): boolean {
  return configured.size === 0 || configured.has(provider);
}
