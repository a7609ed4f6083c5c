/**
 * The catalog: the provider of a model name, the cost of a call, and the list of models. The operator's MODELS_FILE comes
 * before the registry's data. Everything is in memory; nothing is fetched.
 */

import type { ProviderName } from '../contracts/provider.ts';
import {
  BUILT_IN_MODELS,
  builtInModel,
  builtInProviderOf,
  type CatalogModel,
  makerOf,
  releasedAt,
} from './built-in.ts';
import { secondsOfDate } from './date.ts';
import { FINE_TUNED_SOURCE, priceFineTunedCall } from './fine-tuned.ts';
import type { OperatorModel, OperatorModels } from './models-file/mod.ts';
import { createPriceCall, type PricedCall, priceNames } from './price.ts';
import { providerOf } from './provider-of.ts';
import { PRICE_SOURCE } from './registry.ts';
import { costOfTokens, type TokenPrice, toPico } from './token-price.ts';

/** The cost of a call. */
export type Cost = {
  /** Whole nano-dollars. */
  nano: number;
  /** The price list, with its version. */
  source: string;
};

/** The known models, with their providers and prices. */
export type Catalog = {
  /** Returns the provider and its name for a model that is requested by its id or as `provider/model`; null: none has it. */
  providerOf(asked: string): { provider: ProviderName; model: string } | null;
  /** Returns the cost of a call; null, never 0, when no price is known. The operator's price comes before the registry's. */
  costOf(call: PricedCall): Cost | null;
  /** Returns the models that answer chat completions and have a price. */
  chatModels(): CatalogModel[];
  /** Describes what a name that `providerOf` knows stands for, listed or not. */
  describe(asked: string, at: { provider: ProviderName; model: string }): CatalogModel;
};

/** Makes a catalog; null: the registry alone. */
export function createCatalog(operator: OperatorModels | null): Catalog {
  const models = operator?.models ?? [];
  const byId = new Map(models.map((model) => [model.id, model]));
  const byName = new Map(models.map((model) => [nameKey(model.provider, nameAtProvider(model)), model]));
  const prices = pricesOf(models);
  const priceCall = createPriceCall();

  const costOfModel = (call: PricedCall): Cost | null => {
    if (operator !== null) {
      const price = operatorPrice(prices, call);
      const nano = price === null ? null : costOfTokens(price, call.usage);
      if (nano !== null) return { nano, source: operator.source };
    }
    const fineTuned = priceFineTunedCall(call);
    if (fineTuned !== null) return { nano: fineTuned, source: FINE_TUNED_SOURCE };
    const nano = priceCall(call);
    return nano === null ? null : { nano, source: PRICE_SOURCE };
  };

  return {
    providerOf: (asked) => {
      const own = byId.get(asked);
      if (own !== undefined) return { provider: own.provider, model: nameAtProvider(own) };
      // The registry's patterns, which decide all other names, take half a millisecond.
      const builtIn = builtInProviderOf(asked);
      return builtIn === undefined ? providerOf(asked) : { provider: builtIn, model: asked };
    },
    costOf: (call) => {
      const cost = costOfModel(call);
      if (cost === null) return null;
      let { nano } = cost;
      for (const { model, usage } of call.usage.advice) {
        const advice = costOfModel({ ...call, models: [model], usage });
        if (advice === null) return null;
        nano += advice.nano;
      }
      return nano === cost.nano ? cost : { ...cost, nano };
    },
    chatModels: () => {
      const listed = new Map(BUILT_IN_MODELS.map((model) => [model.id, model]));
      for (const model of models) {
        const known = listed.get(model.id);
        listed.delete(model.id);
        const entry = entryOf(model, known);
        if (entry !== null) listed.set(entry.id, entry);
      }
      return [...listed.values()];
    },
    describe: (asked, at) => {
      // In a list, a model's name at one provider may be the id of another provider's model in the file.
      const named = byId.get(asked);
      const own = named?.provider === at.provider ? named : byName.get(nameKey(at.provider, at.model));
      const known = builtInModel(own?.id ?? at.model);
      return described({ provider: at.provider, ...own, id: asked }, at.model, known);
    },
  };
}

/** The registry alone. */
export const BUILT_IN_CATALOG: Catalog = createCatalog(null);

function nameAtProvider({ id, provider, model }: OperatorModel): string {
  if (model !== undefined) return model;
  return id.startsWith(`${provider}/`) ? id.slice(provider.length + 1) : id;
}

const nameKey = (provider: string, name: string) => `${provider} ${name}`;

/** Returns prices by provider and name: the name that clients request and the name at the provider. */
function pricesOf(models: readonly OperatorModel[]): Map<string, TokenPrice> {
  const prices = new Map<string, TokenPrice>();
  for (const model of models) {
    const price = tokenPrice(model);
    if (price === null) continue;
    for (const name of [model.id, nameAtProvider(model)]) prices.set(nameKey(model.provider, name), price);
  }
  return prices;
}

function tokenPrice({ price }: OperatorModel): TokenPrice | null {
  if (price === undefined) return null;
  const pico = (usd: number | undefined) => (usd === undefined ? null : toPico(usd));
  const [input, output] = [pico(price.input), pico(price.output)];
  if (input === null || output === null) return null;
  return {
    input,
    output,
    cacheRead: pico(price.cached_input),
    cacheWrite: pico(price.cache_write),
    cacheWriteHour: null,
    reasoning: null,
    webSearch: null,
  };
}

function operatorPrice(prices: ReadonlyMap<string, TokenPrice>, call: PricedCall): TokenPrice | null {
  for (const name of priceNames(call)) {
    const price = prices.get(nameKey(call.provider, name));
    if (price !== undefined) return price;
  }
  return null;
}

/** Returns the listed entry of an operator's model; null when it is hidden or has no price. */
function entryOf(model: OperatorModel, known: CatalogModel | undefined): CatalogModel | null {
  const { provider, price, listed = true } = model;
  if (!listed || (price === undefined && known?.provider !== provider)) return null;
  return described(model, nameAtProvider(model), known);
}

/** @param known the built-in model of that name, at whichever provider */
function described(
  { id, provider, created, owned_by }: OperatorModel,
  name: string,
  known: CatalogModel | undefined,
): CatalogModel {
  const isSame = known?.provider === provider;
  return {
    id,
    provider,
    title: isSame ? known.title : id,
    ownedBy: owned_by ?? (isSame ? known.ownedBy : makerOf(provider, name)),
    created: secondsOfDate(created ?? '') ?? (isSame ? known.created : releasedAt(name)),
  };
}
