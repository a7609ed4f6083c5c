/** Compression of responses, for servers that write their own bodies. */
export { readAcceptEncoding } from './accept-encoding.ts';
export { compressResponse } from './compress-response.ts';
