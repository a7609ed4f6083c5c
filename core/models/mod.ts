/** Models: the provider of a model name, the cost of a call, and the list of usable models. Pure. */
export type { CatalogModel } from './built-in.ts';
export { BUILT_IN_CATALOG, type Catalog, createCatalog } from './catalog.ts';
export {
  type OperatorGroup,
  type OperatorModel,
  type OperatorModels,
  parseModelsFile,
} from './models-file/mod.ts';
export { createPriceCall } from './price.ts';
export { LONGEST_LIST, MAX_MODELS, modelKey, readModelList } from './read-model-list.ts';
export { PRICE_SOURCE } from './registry.ts';
export { snapshotOf } from './snapshot.ts';
export { costOfTokens, toPico } from './token-price.ts';
