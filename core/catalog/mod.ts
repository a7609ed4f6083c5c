/** Models: whose they are, what they cost, which can be used. */
export type { CatalogModel } from './built-in.ts';
export { BUILT_IN_CATALOG, type Catalog, type Cost, createCatalog } from './catalog.ts';
export { modelKey, readModelList } from './read-model-list.ts';
export { snapshotOf } from './snapshot.ts';
