/** The models that an organization's calls can use, with their prices. */
import { LRUCache } from 'lru-cache';
import { textUsage } from '#core/chat/mod.ts';
import type { ModelsJson } from '#core/contracts/playground.ts';
import type { ProviderName } from '#core/contracts/provider.ts';
import { type AllowLists, matchesAny } from '#core/keys/mod.ts';
import { type Catalog, createCatalog } from '#core/models/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { GatewayFacts } from '#platform/processes/mod.ts';
import { readUsable, usableProviders } from './usable.ts';

export { readUsable, usableProviders } from './usable.ts';

export type ModelService = {
  /** Lists what calls with a key can use. @param allowed what the key is confined to; null: nothing */
  list(organizationId: string, allowed: AllowLists | null): Promise<ModelsJson>;
};

type Model = ModelsJson['models'][number] & { provider: ProviderName; nameAtProvider: string };

const DAY_MS = 86_400_000;
/** Configurations of gateways, each on a day of its own, as prices change. */
const MAX_LISTS = 8;
/** Tokens of the call that a price is read from: few, as some models cost more beyond a bound. */
const SAMPLE_TOKENS = 1_000;
const MILLION = 1_000_000;
const NANO_PER_USD = 1e9;

/** @param options.sql a pool under the role `assay_api` */
export function createModelService({ sql, clock }: { sql: Sql; clock: Clock }): ModelService {
  const lists = new LRUCache<string, Model[]>({ max: MAX_LISTS });

  function modelsOf(facts: GatewayFacts): Model[] {
    const atMs = clock.now();
    const key = `${Math.floor(atMs / DAY_MS)} ${JSON.stringify(facts)}`;
    const models = lists.get(key) ?? pricedModels(facts, atMs);
    lists.set(key, models);
    return models;
  }

  return {
    async list(organizationId, allowed) {
      const { facts, ownProviders } = await readUsable(sql, organizationId);
      const models = new Map<string, Model>();
      const groups = new Map<string, string[]>();
      const providers = new Set<ProviderName>();
      for (const gateway of facts) {
        const usable = usableProviders(gateway, ownProviders).filter((name) =>
          isAllowedProvider(name, allowed),
        );
        for (const name of usable) providers.add(name);
        for (const model of modelsOf(gateway))
          if (usable.includes(model.provider) && isAllowedModel(model, allowed)) models.set(model.id, model);
        for (const { id, routes } of gateway.groups)
          groups.set(
            id,
            routes.map(({ model }) => model),
          );
      }
      return {
        models: [...models.values()].map(({ nameAtProvider, ...model }) => model).sort(byId),
        groups: [...groups].map(([id, names]) => ({ id, models: names })).sort(byId),
        providers: [...providers],
      };
    },
  };
}

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

function isAllowedProvider(name: ProviderName, allowed: AllowLists | null): boolean {
  return allowed === null || allowed.providers === null || allowed.providers.includes(name);
}

function isAllowedModel({ provider, nameAtProvider }: Model, allowed: AllowLists | null): boolean {
  const globs = allowed?.models ?? null;
  return globs === null || matchesAny(globs, [nameAtProvider, `${provider}/${nameAtProvider}`]);
}

function pricedModels({ models, groups }: GatewayFacts, atMs: number): Model[] {
  const catalog = createCatalog({ models, groups, source: '' });
  return catalog.chatModels().map(({ id, provider, title, ownedBy }) => {
    const nameAtProvider = catalog.providerOf(id)?.model ?? id;
    const priceOf = (prompt: number, completion: number) =>
      usdPerMillion(catalog, {
        provider,
        models: [nameAtProvider, id],
        usage: textUsage(prompt, completion),
        atMs,
      });
    return {
      id,
      provider,
      title,
      owned_by: ownedBy,
      input_price: priceOf(SAMPLE_TOKENS, 0),
      output_price: priceOf(0, SAMPLE_TOKENS),
      nameAtProvider,
    };
  });
}

function usdPerMillion(catalog: Catalog, call: Parameters<Catalog['costOf']>[0]): number | null {
  const cost = catalog.costOf(call);
  return cost === null ? null : (cost.nano * (MILLION / SAMPLE_TOKENS)) / NANO_PER_USD;
}
