/**
 * Providers of another dialect, made to speak OpenAI's: what comes after this sees a provider like any other, and logs,
 * stores and relays what the client reads.
 */
import { AssayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { decodeAnswer } from '#core/schema/content-encoding.ts';
import {
  MessagesStreamTranslator,
  parseExactJson,
  toCompletion,
  toOpenAiError,
} from '../providers/anthropic/mod.ts';
import type { AnswerSink, ProviderAnswer, Upstream } from '../providers/upstream.ts';
import { encodingOf, isEventStream } from './answer-form.ts';
import type { Call } from './call.ts';
import { canDecode, decodingSink } from './decoding-sink.ts';

/** The way to a call's provider, in OpenAI's dialect. */
export function spoken({ route, createdAtMs }: Call, send: Upstream['send']): Upstream['send'] {
  if (route.row.dialect === 'openai') return send;
  const created = Math.floor(createdAtMs / 1_000);
  return (request) => {
    const { label } = route.row;
    const onStart = (answer: ProviderAnswer): AnswerSink => {
      const encoding = encodingOf(answer);
      if (!isEventStream(answer) || !(encoding === null || canDecode(encoding))) {
        const sink = request.onStart(asJson(answer));
        return wholeAnswer({ answer, encoding, created, sink, abort: () => abort() });
      }
      const sink = streamedAnswer(created, request.onStart(uncoded(answer)));
      return encoding === null ? sink : decodingSink(encoding, label, sink);
    };
    const abort = send({ ...request, onStart });
    return abort;
  };
}

function uncoded(answer: ProviderAnswer): ProviderAnswer {
  const { 'content-encoding': _, ...headers } = answer.headers;
  return { ...answer, headers };
}

function asJson(answer: ProviderAnswer): ProviderAnswer {
  const plain = uncoded(answer);
  return { ...plain, headers: { ...plain.headers, 'content-type': 'application/json' } };
}

/** What a stream becomes as it comes. */
function streamedAnswer(created: number, sink: AnswerSink): AnswerSink {
  const translator = new MessagesStreamTranslator({ created });
  const pass = (frames: readonly Buffer[]) => {
    for (const frame of frames) sink.data(frame);
  };
  return {
    data: (chunk) => pass(translator.push(chunk)),
    end: () => {
      pass(translator.end());
      sink.end();
    },
    fail: (error) => sink.fail(error),
  };
}

type WholeAnswer = {
  answer: ProviderAnswer;
  encoding: string | null;
  created: number;
  sink: AnswerSink;
  abort(): void;
};

/** No message is nearly as large. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** What a message or an error becomes once it is whole. */
function wholeAnswer({ answer, encoding, created, sink, abort }: WholeAnswer): AnswerSink {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    data: (chunk) => {
      size += chunk.length;
      if (size <= MAX_MESSAGE_BYTES) {
        chunks.push(chunk);
        return;
      }
      abort();
      sink.fail(badAnswer(`The provider sent an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
    },
    end: () => {
      try {
        const text = decodeAnswer(Buffer.concat(chunks), encoding).toString('utf8');
        const told =
          answer.status < 300
            ? toCompletion(parseExactJson(text) as JsonObject, { created })
            : toOpenAiError(answer.status, text);
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
