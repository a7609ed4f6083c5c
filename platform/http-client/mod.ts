/** Calls to providers. */
export { encodingOf, isEventStream, isWithoutContent } from './answer-form.ts';
export { createProviderClient, type ProviderClientOptions, type Upstream } from './client.ts';
export type { AnswerSink, ProviderAnswer, ProviderRequest, ProviderTimeouts } from './exchange.ts';
export { failedHere } from './failures.ts';
export type { ResponseHeaders } from './response-headers.ts';
