/** A compressed event stream, decoded on its way: events can be told apart only in plain bytes. */
import { AssayError } from '#core/contracts/errors.ts';
import { type ProviderResponse, ResponseBody } from '#platform/http-client/mod.ts';
import { createDecoder } from '#platform/http-message/mod.ts';

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
      // The bytes decoded so far go out first; the end of the decoder then reports the failure.
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
