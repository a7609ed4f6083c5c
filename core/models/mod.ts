/** Models: which provider a model name means, what a call costs, and which models can be used. Pure. */
export type { CatalogModel } from './built-in.ts';
export { BUILT_IN_CATALOG, type Catalog, createCatalog } from './catalog.ts';
export {
  type OperatorGroup,
  type OperatorModel,
  type OperatorModels,
  parseModelsFile,
} from './models-file/mod.ts';
export { createPriceCall } from './price.ts';
export { modelKey, readModelList } from './read-model-list.ts';
export { PRICE_SOURCE } from './registry.ts';
export { snapshotOf } from './snapshot.ts';
export { costOfTokens, toPico } from './token-price.ts';
