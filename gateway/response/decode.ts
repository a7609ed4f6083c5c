/** A compressed event stream, decoded on its way: events can be told apart only in plain bytes. */
import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type ZlibOptions,
} from 'node:zlib';
import { AssayError } from '#core/contracts/errors.ts';
import { type ProviderResponse, ResponseBody } from '#platform/http-client/mod.ts';

/** Streams that undo a content-encoding, off the event loop. `decodeAnswer` knows the same encodings. */
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

/** Whether bytes in this content-encoding, as `encodingOf` returns it, can be decoded. A list of several cannot. */
export function canDecode(encoding: string): boolean {
  return Object.hasOwn(DECODERS, encoding);
}

/** Makes a decoder. `encoding` must be one that `canDecode`. */
export function createDecoder(encoding: string): Transform {
  return DECODERS[encoding]!({ chunkSize: CHUNK_BYTES });
}

/**
 * Decodes a response as it comes. Memory is bounded: a slow reader pauses the decoder, and a full decoder pauses the
 * provider.
 * @param encoding one that `canDecode`
 * @param label the provider's name in error sentences
 */
export function decodedResponse(
  { status, headers, body }: ProviderResponse,
  encoding: string,
  label: string,
): ProviderResponse {
  const decoder = createDecoder(encoding);
  /** The provider has ended its response, one way or the other. */
  let hasEnded = false;
  let failure: AssayError | null = null;
  const plain = new ResponseBody({
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    stop: () => {
      decoder.destroy();
      body.stop();
    },
  });
  decoder.on('data', (chunk: Buffer) => plain.onData(chunk));
  decoder.on('drain', () => body.resume());
  decoder.once('end', () => {
    // Bytes behind the end of the compressed ones are no part of the response, however many there are.
    if (!hasEnded) body.stop();
    if (failure === null) plain.onEnd();
    else plain.onError(failure);
  });
  decoder.once('error', (cause) => {
    if (!hasEnded) body.stop();
    plain.onError(failure ?? notDecodable(label, encoding, cause));
  });
  body.read({
    onData: (chunk) => {
      if (!decoder.destroyed && !decoder.write(chunk)) body.pause();
    },
    onEnd: () => {
      hasEnded = true;
      decoder.end();
    },
    onError: (error) => {
      // What was decoded so far goes out first; the end of the decoder then reports the failure.
      hasEnded = true;
      failure = error;
      decoder.end();
    },
  });
  return { status, headers, body: plain };
}

function notDecodable(label: string, encoding: string, cause: unknown): AssayError {
  const message = `The provider ${label} sent a stream that is not valid ${encoding}`;
  return new AssayError('provider_bad_answer', message, { cause });
}
