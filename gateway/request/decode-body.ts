import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { AssayError } from '#core/contracts/errors.ts';
import { joinBytesInTurns } from '#platform/process/turns/mod.ts';

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Undoes the content-encoding of a request, in another thread and piece by piece: what comes out is bounded, and joined
 * without holding up the event loop.
 * @throws AssayError unsupported_media_type, body_too_large or invalid_body
 */
export async function decodeBody(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]!() : null;
  if (decoder === null) {
    const allowed = Object.keys(DECODERS).join(', ');
    throw new AssayError(
      'unsupported_media_type',
      `The content-encoding "${encoding.slice(0, 80)}" is not known; allowed are ${allowed}`,
    );
  }
  const pieces = await new Promise<Buffer[]>((resolve, reject) => {
    const decoded: Buffer[] = [];
    let bytes = 0;
    decoder.on('data', (piece: Buffer) => {
      bytes += piece.length;
      decoded.push(piece);
      if (bytes <= maxBytes) return;
      reject(
        new AssayError('body_too_large', `The request body is larger than the ${maxBytes} bytes allowed`),
      );
      decoder.destroy();
    });
    decoder.once('end', () => resolve(decoded));
    decoder.once('error', (cause) =>
      reject(new AssayError('invalid_body', `The request body is not valid ${encoding.trim()}`, { cause })),
    );
    decoder.end(body);
  });
  return joinBytesInTurns(pieces);
}
