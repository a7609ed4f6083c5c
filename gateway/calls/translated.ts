/**
 * Providers of another dialect, made to speak the one that was called: what comes after this sees a provider like any
 * other, and logs, stores and relays what the client reads.
 */
import { AssayError } from '#core/errors.ts';
import { GatheredBytes, joinBytes } from '#core/http/mod.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import { decodeAnswer } from '#core/schema/content-encoding.ts';
import type { Translation } from '../surfaces/translation.ts';
import { type AnswerSink, encodingOf, isEventStream, type ProviderAnswer } from '../upstream/mod.ts';
import { canDecode, decodingSink } from './decoding-sink.ts';

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
  const start = options.onStart(retyped(answer, answer.headers['content-type']!));
  const sink = streamedAnswer(answer, start, options);
  return encoding === null ? sink : decodingSink(encoding, label, sink);
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
      try {
        const text = decodeAnswer(gathered.bytes(), encoding).toString('utf8');
        const told =
          answer.status < 300
            ? translation.answer(parseExactJson(text) as JsonObject, created)
            : translation.error(answer.status, text);
        sink.data(Buffer.from(JSON.stringify(told)));
        sink.end();
      } catch (cause) {
        const known = cause instanceof AssayError ? cause : null;
        sink.fail(known ?? badAnswer('The provider answered with something that is no message', cause));
      }
    },
    fail: (error) => sink.fail(error),
  };
}

function badAnswer(message: string, cause?: unknown): AssayError {
  return new AssayError('provider_bad_answer', message, { cause });
}
