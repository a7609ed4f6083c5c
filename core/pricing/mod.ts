/** Prices, and whose model a name means. Pure. */
export { knowsModel, PRICE_SOURCE, type PricedCall, priceCall } from './price.ts';
export { providerOf } from './provider-of.ts';
