/** The models that callers can use, as documents that are ready to be sent. */

export { createLiveModels, type LiveModels } from './live.ts';
export { createModelLists, type ModelDocument, type ModelLists } from './model-list.ts';
export { routable } from './routable.ts';
export { operatorsProviders, usableModels } from './usable.ts';
