/**
 * Providers of another dialect, made to speak the one that was called: what comes after this sees a provider like any
 * other, and logs, stores and relays what the client reads.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import {
  type AnswerSink,
  encodingOf,
  isEventStream,
  type ProviderAnswer,
} from '#platform/http-client/mod.ts';
import { GatheredBytes, joinBytes } from '#platform/http-server/mod.ts';
import type { Translation } from '../providers/translation.ts';
import { decodedAnswer } from './decode.ts';
import { canDecode } from './decoders.ts';
import { maxErrorBytes } from './error-in-success.ts';
import { unpack } from './unpack.ts';

export type TranslatedOptions = {
  translation: Translation;
  /** The provider's name in error sentences. */
  label: string;
  /** Seconds since 1970. */
  created: number;
  /** Where the translated answer begins. */
  onStart(answer: ProviderAnswer): AnswerSink;
};

/** The sink of a provider's answer that passes it on in the other dialect. */
export function translatedAnswer(answer: ProviderAnswer, options: TranslatedOptions): AnswerSink {
  const { translation, created, label } = options;
  const encoding = encodingOf(answer);
  if (!isEventStream(answer) || !(encoding === null || canDecode(encoding))) {
    const sink = options.onStart(retyped(answer, 'application/json'));
    return wholeAnswer({ answer, encoding, translation, created, sink });
  }
  const onStart = (plain: ProviderAnswer): AnswerSink => {
    const start = options.onStart(retyped(plain, plain.headers['content-type']!));
    return streamedAnswer(plain, start, options);
  };
  return encoding === null ? onStart(answer) : decodedAnswer(answer, { encoding, label, onStart });
}

/** What described the provider's bytes goes with them. */
function retyped(answer: ProviderAnswer, contentType: string): ProviderAnswer {
  const headers: Record<string, string> = Object.create(null);
  headers['content-type'] = contentType;
  for (const name in answer.headers)
    if (!name.startsWith('content-') && name !== 'etag') headers[name] = answer.headers[name]!;
  return { ...answer, headers };
}

/** No message, and no event, is nearly as large. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** What a stream becomes as it comes. */
function streamedAnswer(
  answer: ProviderAnswer,
  sink: AnswerSink,
  { translation, created, label }: TranslatedOptions,
): AnswerSink {
  const translator = translation.stream({ created, maxEventBytes: MAX_MESSAGE_BYTES });
  const pass = (frames: readonly Buffer[]) => {
    if (frames.length > 0) sink.data(joinBytes(frames));
  };
  return {
    data: (chunk) => {
      if (translator.isOverrun) return;
      pass(translator.push(chunk));
      if (!translator.isOverrun) return;
      answer.stop();
      sink.fail(badAnswer(`The provider ${label} sent an event of more than ${MAX_MESSAGE_BYTES} bytes`));
    },
    end: () => {
      if (translator.isOverrun) return;
      pass(translator.end());
      sink.end();
    },
    fail: (error) => {
      if (translator.isOverrun) return;
      // All but its last event may have come: then the answer is whole, as it is in the same dialect.
      const frames = translator.end();
      if (!translator.isComplete) {
        sink.fail(error);
        return;
      }
      pass(frames);
      sink.end();
    },
  };
}

type WholeAnswer = {
  answer: ProviderAnswer;
  encoding: string | null;
  translation: Translation;
  created: number;
  sink: AnswerSink;
};

/** What a message or an error becomes once it is whole. */
function wholeAnswer({ answer, encoding, translation, created, sink }: WholeAnswer): AnswerSink {
  const gathered = new GatheredBytes();
  const { status } = answer;
  const fail = (cause: unknown): void => {
    const known = cause instanceof AssayError ? cause : null;
    sink.fail(known ?? badAnswer('The provider answered with something that is no message', cause));
  };
  const tell = (text: string): void => {
    try {
      const told =
        status < 300
          ? translation.answer(parseExactJson(text) as JsonObject, created)
          : translation.error(status, text);
      sink.data(Buffer.from(JSON.stringify(told)));
      sink.end();
    } catch (cause) {
      fail(cause);
    }
  };
  return {
    data: (chunk) => {
      if (gathered.length + chunk.length <= MAX_MESSAGE_BYTES) {
        gathered.push(chunk);
        return;
      }
      answer.stop();
      sink.fail(badAnswer(`The provider sent an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
    },
    end: () => {
      const body = gathered.bytes();
      if (encoding === null) tell(body.toString('utf8'));
      else if (!canDecode(encoding)) fail(new Error(`unknown content-encoding ${encoding}`));
      else void unpackedText(body, encoding, status).then(tell, fail);
    },
    fail: (error) => sink.fail(error),
  };
}

/** The text of a packed message, or the beginning of an error's, which may be a page of any length. */
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
