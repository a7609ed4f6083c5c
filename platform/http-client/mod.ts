/** Calls to providers. */
export { encodingOf, isEventStream, isWithoutContent } from './answer-form.ts';
export { createUpstream, type Upstream, type UpstreamOptions } from './client.ts';
export type { AnswerSink, ProviderAnswer, ProviderRequest, ProviderTimeouts } from './exchange.ts';
export { failedHere } from './failures.ts';
export type { ResponseHeaders } from './response-headers.ts';
