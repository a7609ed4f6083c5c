/** The parts of HTTP/1.1 messages that requests and responses share: grammar, bodies, encodings. */

export {
  CONTENT_ENCODINGS,
  canDecode,
  createDecoder,
  decodeContent,
  decodeContentInThread,
  MAX_DECODED_BYTES,
} from './content-encoding.ts';
export { GatheredBytes, joinBytes } from './gathered-bytes.ts';
export {
  ChunkedReader,
  isHeaderText,
  isToken,
  lengthOf,
  NotHttp,
  optionsOf,
  parseHeaderLines,
} from './grammar.ts';
export { readRetryAfter } from './retry-after.ts';
