/** Calls to providers. */
export type { AnswerSink, ProviderAnswer, ProviderRequest, ProviderTimeouts } from './exchange.ts';
export { createUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';
