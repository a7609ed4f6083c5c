import { AssayError } from '#core/contracts/errors.ts';
import { CONTENT_ENCODINGS, canDecode, createDecoder } from '#platform/http-message/mod.ts';
import { joinBytesInTurns } from '#platform/process/turns.ts';

/**
 * Undoes the content-encoding of a request, in another thread and piece by piece: what comes out is bounded, and joined
 * without holding up the event loop.
 * @throws AssayError unsupported_media_type, body_too_large or invalid_body
 */
export async function decodeBody(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (!canDecode(encoding)) {
    throw new AssayError(
      'unsupported_media_type',
      `The content-encoding "${encoding.slice(0, 80)}" is not known; allowed are ${CONTENT_ENCODINGS.join(', ')}`,
    );
  }
  const decoder = createDecoder(encoding);
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
