/** Calls to providers. */
export { encodingOf, isEventStream } from './answer-form.ts';
export type { AnswerSink, ProviderAnswer, ProviderRequest, ProviderTimeouts } from './exchange.ts';
export { failedHere } from './failures.ts';
export { createUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';
