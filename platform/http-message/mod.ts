/** The grammar of HTTP/1.1 messages that requests and responses share. Pure. */
export { ChunkedReader } from './chunked-reader.ts';
export {
  CONTENT_ENCODINGS,
  canDecode,
  createDecoder,
  decodeContent,
  decodeContentInThread,
  MAX_DECODED_BYTES,
} from './content-encoding.ts';
export { GatheredBytes } from './gathered-bytes.ts';
export { isToken, lengthOf, optionsOf, parseHeaderLines } from './header-lines.ts';
export { isHeaderText } from './header-text.ts';
export { joinBytes } from './join-bytes.ts';
export { NotHttp } from './not-http.ts';
export { readRetryAfter } from './retry-after.ts';
