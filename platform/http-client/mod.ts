/** The HTTP client that calls providers. */
export { createProviderClient, type ProviderClient, type ProviderClientOptions } from './client.ts';
export type { ProviderRequest, ProviderTimeouts } from './exchange.ts';
export { failedHere } from './failures.ts';
export {
  encodingOf,
  isEventStream,
  isWithoutContent,
  type ProviderResponse,
  ResponseBody,
  type ResponseHandler,
} from './response.ts';
export type { ResponseHeaders } from './response-head.ts';
