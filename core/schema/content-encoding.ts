import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

/** A compressed answer may not unpack to more than this: far above any real one, below what would hurt. */
export const MAX_DECODED_BYTES = 128 * 1024 * 1024;

/**
 * Undoes an answer's content-encoding, for the log: what was relayed stays as the provider sent it.
 * @throws Error when the bytes do not fit the encoding, it is not known, or more than `maxBytes` come out
 */
export function decodeAnswer(
  body: Uint8Array,
  encoding: string | null,
  maxBytes: number = MAX_DECODED_BYTES,
): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const options = { maxOutputLength: maxBytes };
  switch (encoding?.trim().toLowerCase() ?? 'identity') {
    case '':
    case 'identity':
      return bytes;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, options);
    case 'deflate':
      return inflateSync(bytes, options);
    case 'br':
      return brotliDecompressSync(bytes, options);
    case 'zstd':
      return zstdDecompressSync(bytes, options);
    default:
      throw new Error(`unknown content-encoding ${encoding}`);
  }
}
