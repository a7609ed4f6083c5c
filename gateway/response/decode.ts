/** A compressed event stream, unpacked on its way: events can be told apart only in plain bytes. */
import { AssayError } from '#core/contracts/errors.ts';
import type { AnswerSink, ProviderAnswer } from '#platform/http-client/mod.ts';
import { createDecoder } from './decoders.ts';

export type DecodedOptions = {
  /** One that `canDecode`. */
  encoding: string;
  /** The provider's name in error sentences. */
  label: string;
  /** Where the plain bytes go. To slow the plain answer down is to slow the decoder down. */
  onStart(plain: ProviderAnswer): AnswerSink;
};

/**
 * Returns the sink of compressed bytes. What is in memory is bounded: a reader that is slow pauses the decoder, and a
 * decoder that is full pauses the provider.
 */
export function decodedAnswer(answer: ProviderAnswer, options: DecodedOptions): AnswerSink {
  const { encoding, label } = options;
  const decoder = createDecoder(encoding);
  /** The provider has ended its answer, one way or the other. */
  let hasEnded = false;
  let failure: AssayError | null = null;
  const sink = options.onStart({
    ...answer,
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    stop: () => {
      decoder.destroy();
      answer.stop();
    },
  });
  decoder.on('data', (chunk: Buffer) => sink.data(chunk));
  decoder.on('drain', () => answer.resume());
  decoder.once('end', () => {
    // Bytes behind the end of the compressed ones are no part of the answer, however many there are.
    if (!hasEnded) answer.stop();
    if (failure === null) sink.end();
    else sink.fail(failure);
  });
  decoder.once('error', (cause) => {
    if (!hasEnded) answer.stop();
    sink.fail(failure ?? invalid(label, encoding, cause));
  });
  return {
    data: (chunk) => {
      if (!decoder.destroyed && !decoder.write(chunk)) answer.pause();
    },
    end: () => {
      hasEnded = true;
      decoder.end();
    },
    fail: (error) => {
      // What was unpacked so far goes out first; the end of the decoder then reports the failure.
      hasEnded = true;
      failure = error;
      decoder.end();
    },
  };
}

function invalid(label: string, encoding: string, cause: unknown): AssayError {
  const message = `The provider ${label} sent a stream that is not valid ${encoding}`;
  return new AssayError('provider_bad_answer', message, { cause });
}
