/** The content-encodings that Assay can decode: at once, in a thread, or as a stream. */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  gunzipSync,
  inflate,
  inflateSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';

type Bounded = { maxOutputLength: number };

type Decoder = {
  /** Both throw or reject with the code ERR_BUFFER_TOO_LARGE when the output is larger than allowed. */
  atOnce(bytes: Buffer, options: Bounded): Buffer;
  inThread(bytes: Buffer, options: Bounded): Promise<Buffer>;
  stream(options: { chunkSize: number }): Transform;
};

const GZIP: Decoder = { atOnce: gunzipSync, inThread: promisify(gunzip), stream: createGunzip };

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { atOnce: inflateSync, inThread: promisify(inflate), stream: createInflate }],
  [
    'br',
    { atOnce: brotliDecompressSync, inThread: promisify(brotliDecompress), stream: createBrotliDecompress },
  ],
  ['zstd', { atOnce: zstdDecompressSync, inThread: promisify(zstdDecompress), stream: createZstdDecompress }],
]);

/** Names of the encodings that can be decoded, as error sentences list them. */
export const CONTENT_ENCODINGS: readonly string[] = [...DECODERS.keys()];

/** Largest decoded body: far above any real one, below what would exhaust memory. */
export const MAX_DECODED_BYTES = 128 * 1024 * 1024;

/**
 * Largest piece that a decoding stream puts out; one read of a socket has as much. Each piece is a turn of a thread and of
 * the event loop: smaller ones take longer in all, larger ones hold the loop.
 */
const CHUNK_BYTES = 64 * 1024;

const nameOf = (encoding: string | null) => encoding?.trim().toLowerCase() ?? '';
const isPlain = (name: string) => name === '' || name === 'identity';

/** Returns whether a body with this `content-encoding` header can be decoded. A list of several encodings cannot. */
export function canDecode(encoding: string): boolean {
  return DECODERS.has(nameOf(encoding));
}

function decoderOf(encoding: string | null): Decoder {
  const decoder = DECODERS.get(nameOf(encoding));
  if (decoder === undefined) throw new Error(`unknown content-encoding ${encoding}`);
  return decoder;
}

/**
 * Decodes a body on the event loop.
 * @param encoding the header's value; null: there is none
 * @throws Error when the bytes do not fit the encoding, it is unknown, or the output is larger than `maxBytes`
 */
export function decodeContent(
  body: Uint8Array,
  encoding: string | null,
  maxBytes: number = MAX_DECODED_BYTES,
): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isPlain(nameOf(encoding))) return bytes;
  return decoderOf(encoding).atOnce(bytes, { maxOutputLength: maxBytes });
}

/** Decodes a body as `decodeContent` does, in another thread. Rejects where `decodeContent` throws. */
export async function decodeContentInThread(
  bytes: Buffer,
  encoding: string | null,
  maxBytes: number,
): Promise<Buffer> {
  if (isPlain(nameOf(encoding))) return bytes;
  return await decoderOf(encoding).inThread(bytes, { maxOutputLength: maxBytes });
}

/**
 * Makes a stream that decodes in other threads, piece by piece.
 * @param encoding one that `canDecode` accepts
 */
export function createDecoder(encoding: string): Transform {
  return decoderOf(encoding).stream({ chunkSize: CHUNK_BYTES });
}
