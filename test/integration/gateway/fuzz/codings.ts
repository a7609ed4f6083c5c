/** The content-encodings that providers use, by name. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';

const PACK: Record<string, (body: Buffer) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

export const CODINGS = Object.keys(PACK);
export const codings = fc.constantFrom(...CODINGS);

/** Compresses, as a provider would that says `coding`. */
export function packed(coding: string, body: Buffer): Buffer {
  return PACK[coding]!(body);
}
