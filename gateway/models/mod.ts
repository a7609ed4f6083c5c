/** The models that callers can use, as answers that are ready to be sent. */

export { createLiveModels, type LiveModels } from './live.ts';
export { createModelAnswers, type ModelAnswer, type ModelAnswers } from './model-list.ts';
export { routable } from './routable.ts';
export { operatorsProviders, usableModels } from './usable.ts';
