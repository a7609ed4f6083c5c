/** Streams that undo a content-encoding, off the event loop. What is known here, `decodeAnswer` knows too. */
import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type ZlibOptions,
} from 'node:zlib';

const DECODERS: Record<string, (options: Pick<ZlibOptions, 'chunkSize'>) => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Bytes that a decoder puts out at a time, at most; as many as one read of a socket brings. Each such piece is a turn of a
 * thread and of the event loop: smaller ones take longer in all, larger ones hold the loop.
 */
const CHUNK_BYTES = 64 * 1024;

/** Whether bytes in this content-encoding, as `encodingOf` tells it, can be unpacked. A list of several cannot. */
export function canDecode(encoding: string): boolean {
  return Object.hasOwn(DECODERS, encoding);
}

/** Makes a decoder. `encoding` must be one that `canDecode`. */
export function createDecoder(encoding: string): Transform {
  return DECODERS[encoding]!({ chunkSize: CHUNK_BYTES });
}
