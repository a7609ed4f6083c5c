/** The HTTP client that calls providers. */
export { createProviderClient, type ProviderClient } from './client.ts';
export { failedHere } from './failures.ts';
export {
  encodingOf,
  isEventStream,
  isWithoutContent,
  type ProviderResponse,
  ResponseBody,
  type ResponseHandler,
} from './response.ts';
export type { ResponseHeaders } from './response-reader.ts';
