import type { Config } from '#platform/config/mod.ts';
import { PROVIDER_NAMES } from '#platform/config/mod.ts';
import type { GatewayFacts } from '#platform/processes/mod.ts';
import { PROVIDERS } from './registry.ts';

/** Returns the providers and models that a gateway of this configuration can call, for the creation of LLM evaluators. */
export function gatewayFacts({ providers, models }: Pick<Config, 'providers' | 'models'>): GatewayFacts {
  const reachable = PROVIDER_NAMES.flatMap((name) => {
    const { baseUrl, needsKey, keyVariable } = PROVIDERS[name];
    const { apiKey, baseUrl: ownUrl } = providers[name];
    if ((ownUrl ?? baseUrl) === null) return [];
    return [[name, { isOpen: apiKey !== null || !needsKey, keyVariable }]];
  });
  return {
    providers: Object.fromEntries(reachable),
    models: models?.models ?? [],
    groups: models?.groups ?? [],
  };
}
