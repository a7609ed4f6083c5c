/** Compression of responses, for servers whose bodies are their own. */
export { compressResponse } from './compress-response.ts';
