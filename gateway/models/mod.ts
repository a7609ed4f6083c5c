/** The models that callers can use, as documents that are ready to send. */

export { createLiveModels } from './live.ts';
export type { ModelDocument, ModelLists } from './model-list.ts';
export { createFindNamed } from './named.ts';
export { routableModels } from './routable.ts';
export { operatorProviders } from './usable.ts';
