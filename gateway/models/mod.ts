/** The models that callers can use, as documents that are ready to be sent. */

export { createLiveModels } from './live.ts';
export type { ModelDocument, ModelLists } from './model-list.ts';
export { routable } from './routable.ts';
export { operatorsProviders } from './usable.ts';
