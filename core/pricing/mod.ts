/** Prices, and whose model a name means, by the registry alone; core/catalog adds what the operator says. Pure. */
export { FINE_TUNED_SOURCE, priceFineTunedCall } from './fine-tuned.ts';
export { type PricedCall, priceCall, priceNames } from './price.ts';
export { CATALOG_ORDER, providerOf } from './provider-of.ts';
export { knowsModel, PRICE_SOURCE, REGISTRY_DATE, type RegistryModel, registryModels } from './registry.ts';
export { costOfTokens, type TokenPrice, toPico } from './token-price.ts';
