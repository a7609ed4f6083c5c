/** A compressed event stream, unpacked on its way: events can be told apart only in plain bytes. */
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { AssayError } from '#core/errors.ts';
import type { AnswerSink } from '../upstream/mod.ts';

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Whether a stream with this content-encoding can be relayed. */
export function canDecode(encoding: string): boolean {
  return Object.hasOwn(DECODERS, encoding.trim().toLowerCase());
}

/** A sink for compressed bytes in front of one for plain bytes. `encoding` must be one that `canDecode`. */
export function decodingSink(encoding: string, label: string, sink: AnswerSink): AnswerSink {
  const decoder = DECODERS[encoding.trim().toLowerCase()]!();
  let failure: AssayError | null = null;
  decoder.on('data', (chunk: Buffer) => sink.data(chunk));
  decoder.once('end', () => (failure === null ? sink.end() : sink.fail(failure)));
  decoder.once('error', (cause) => {
    sink.fail(
      failure ??
        new AssayError(
          'provider_bad_answer',
          `The provider ${label} sent a stream that is not valid ${encoding}`,
          { cause },
        ),
    );
  });
  return {
    data: (chunk) => void decoder.write(chunk),
    end: () => void decoder.end(),
    fail: (error) => {
      // What was unpacked so far goes out first; the end of the decoder then reports the failure.
      failure = error;
      decoder.end();
    },
  };
}
