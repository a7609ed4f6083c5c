/** Compression of responses, for servers that write their own bodies. */
export { compressResponse } from './compress-response.ts';
