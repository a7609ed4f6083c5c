/**
 * Providers of another dialect, made to speak the one that was called: what comes after this sees a provider like any
 * other, and logs, stores and relays what the client reads.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import {
  encodingOf,
  isEventStream,
  type ProviderResponse,
  ResponseBody,
  type ResponseHandler,
} from '#platform/http-client/mod.ts';
import { canDecode, GatheredBytes, joinBytes } from '#platform/http-message/mod.ts';
import type { AnswerOrigin, Translation } from '../translations/mod.ts';
import { decodedResponse } from './decode.ts';
import { maxErrorBytes } from './inspect-body.ts';
import { unpack } from './unpack.ts';

export type TranslatedOptions = AnswerOrigin & { translation: Translation };

/** Returns a provider's response in the other dialect. */
export function translatedResponse(response: ProviderResponse, options: TranslatedOptions): ProviderResponse {
  const encoding = encodingOf(response);
  const { stream } = options.translation;
  if (stream === null || !isEventStream(response) || !(encoding === null || canDecode(encoding))) {
    const translated = translatedFrom(response, 'application/json');
    response.body.read(wholeTranslator(response, translated.body, encoding, options));
    return translated;
  }
  const plain = encoding === null ? response : decodedResponse(response, encoding, options.label);
  const translated = translatedFrom(plain, plain.headers['content-type']!);
  plain.body.read(streamTranslator(plain.body, translated.body, stream, options));
  return translated;
}

/** Returns a response whose body is pushed by us. What described the provider's bytes goes with them. */
function translatedFrom({ status, headers, body }: ProviderResponse, contentType: string): ProviderResponse {
  const kept: Record<string, string> = Object.create(null);
  kept['content-type'] = contentType;
  for (const name in headers)
    if (!name.startsWith('content-') && name !== 'etag') kept[name] = headers[name]!;
  const translated = new ResponseBody({
    pause: () => body.pause(),
    resume: () => body.resume(),
    stop: () => body.stop(),
  });
  return { status, headers: kept, body: translated };
}

/** No message, and no event, is nearly as large. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Returns the handler that translates a stream as it comes. */
function streamTranslator(
  provider: ResponseBody,
  translated: ResponseBody,
  translate: NonNullable<Translation['stream']>,
  { created, label }: TranslatedOptions,
): ResponseHandler {
  const translator = translate({ created, label, maxEventBytes: MAX_MESSAGE_BYTES });
  const pass = (frames: readonly Buffer[]) => {
    if (frames.length > 0) translated.onData(joinBytes(frames));
  };
  return {
    onData: (chunk) => {
      if (translator.isOverrun) return;
      pass(translator.push(chunk));
      if (!translator.isOverrun) return;
      provider.stop();
      translated.onError(
        badAnswer(`The provider ${label} sent an event of more than ${MAX_MESSAGE_BYTES} bytes`),
      );
    },
    onEnd: () => {
      if (translator.isOverrun) return;
      pass(translator.end());
      translated.onEnd();
    },
    onError: (error) => {
      if (translator.isOverrun) return;
      // All but its last event may have come: then the response is whole, as it is in the same dialect.
      const frames = translator.end();
      if (!translator.isComplete) {
        translated.onError(error);
        return;
      }
      pass(frames);
      translated.onEnd();
    },
  };
}

/** Returns the handler that translates a message or an error once it is whole. */
function wholeTranslator(
  { status, body: provider }: ProviderResponse,
  translated: ResponseBody,
  encoding: string | null,
  { translation, created, label }: TranslatedOptions,
): ResponseHandler {
  const gathered = new GatheredBytes();
  const fail = (cause: unknown): void => {
    const known = cause instanceof AssayError ? cause : null;
    translated.onError(known ?? badAnswer('The provider answered with something that is no message', cause));
  };
  const translate = (text: string): void => {
    try {
      const said =
        status < 300
          ? translation.answer(parseExactJson(text) as JsonObject, { created, label })
          : translation.error(status, text);
      translated.onData(Buffer.from(JSON.stringify(said)));
      translated.onEnd();
    } catch (cause) {
      fail(cause);
    }
  };
  return {
    onData: (chunk) => {
      if (gathered.length + chunk.length <= MAX_MESSAGE_BYTES) {
        gathered.push(chunk);
        return;
      }
      provider.stop();
      translated.onError(badAnswer(`The provider sent an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
    },
    onEnd: () => {
      const body = gathered.bytes();
      if (encoding === null) translate(body.toString('utf8'));
      else if (!canDecode(encoding)) fail(new Error(`unknown content-encoding ${encoding}`));
      else void unpackedText(body, encoding, status).then(translate, fail);
    },
    onError: (error) => translated.onError(error),
  };
}

/** Returns the text of a packed message, or the beginning of an error's, which may be a page of any length. */
async function unpackedText(body: Buffer, encoding: string, status: number): Promise<string> {
  const maxBytes = status < 300 ? MAX_MESSAGE_BYTES : maxErrorBytes(null);
  const { beginning, state } = await unpack(body, encoding, { keptBytes: maxBytes, maxBytes });
  if (status < 300 && state !== 'whole')
    throw new Error(`The body is ${state}: it is no ${encoding} to its end`);
  return beginning.toString('utf8');
}

function badAnswer(message: string, cause?: unknown): AssayError {
  return new AssayError('provider_bad_answer', message, { cause });
}
