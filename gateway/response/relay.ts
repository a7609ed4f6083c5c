/** Sends a call to its provider and ties together the three that can end it: the answer, a failure, the client. */
import type { AssayError } from '#core/contracts/errors.ts';
import {
  type AnswerSink,
  encodingOf,
  failedHere,
  isEventStream,
  type ProviderAnswer,
} from '#platform/http-client/mod.ts';
import { Reply } from '#platform/http-server/mod.ts';
import type { Call, Outcome } from '../request/call.ts';
import type { CallDependencies } from '../request/handle.ts';
import { type RecordOutcome, recordOnce } from '../request/record.ts';
import { type PlainRelay, relayPlain } from './buffered.ts';
import { decodedAnswer } from './decode.ts';
import { canDecode } from './decoders.ts';
import { errorReply, ownErrorBody } from './reply.ts';
import { StreamRelay } from './streamed.ts';

/** An answer may be larger than a request: 128,000 tokens of stream are some 32 MiB of events. */
const ANSWER_TO_BODY_RATIO = 4;

/** What answers a call, a provider or a stored answer in its place: begins to, and returns what stops it. */
export type Answering = (hear: AnswerHearing) => () => void;

/** One of the two is called, once. */
export type AnswerHearing = {
  /** Status and headers are there: returns where the bytes go. */
  onStart(answer: ProviderAnswer): AnswerSink;
  /** There will be no answer. */
  onFailure(error: AssayError): void;
};

/** Relays one call. Resolves with the response as soon as there is one; of a stream, that is its beginning. */
export function relayCall(
  call: Call,
  answering: Answering,
  dependencies: CallDependencies,
): Promise<Response> {
  const { clock } = dependencies;
  const maxAnswerBytes = dependencies.config.maxBodyBytes * ANSWER_TO_BODY_RATIO;
  return new Promise((respond) => {
    // Whichever of the three comes first decides what the record says; the others find it written.
    let isOver = false;
    const recordFirst = recordOnce(call, dependencies.recorder);
    const record: RecordOutcome = (outcome) => {
      isOver = true;
      return recordFirst(outcome);
    };
    let plain: PlainRelay | null = null;
    let stream: StreamRelay | null = null;
    let abort = (): void => {};

    const fail = (error: AssayError): void => {
      dependencies.log.warn(
        { requestId: call.id, code: error.code, detail: error.detail },
        'provider call failed',
      );
      void record(failedOutcome(call, error)).then((isKept) => {
        if (!isKept) call.ownHeaders.push(['service-logged', 'false']);
        respond(errorReply(error, call.ownHeaders, call.surface.errors));
      });
    };

    const start = (answer: ProviderAnswer): AnswerSink => {
      const options = { call, record, respond };
      const encoding = encodingOf(answer);
      if (isEventStream(answer) && (encoding === null || canDecode(encoding))) {
        const onStart = (plainAnswer: ProviderAnswer): AnswerSink => {
          const now = () => clock.monotonic();
          stream = new StreamRelay({ ...options, answer: plainAnswer, maxLoggedBytes: maxAnswerBytes, now });
          return stream;
        };
        if (encoding === null) return onStart(answer);
        return decodedAnswer(answer, { encoding, label: call.route.row.label, onStart });
      }
      plain = relayPlain({ ...options, answer, maxAnswerBytes });
      return plain;
    };

    const begin = (): void => {
      // The client left while the START was written.
      if (isOver) return;
      abort = answering({ onStart: start, onFailure: fail });
    };

    call.signal.addEventListener('abort', () => {
      abort();
      if (stream !== null) stream.clientLeft();
      else void record(abandonedOutcome(plain)).then(() => respond(goneReply()));
    });

    // Whatever happens to this process from now on, the call has a record.
    dependencies.recorder
      .begin(call)
      .then(begin)
      .catch((error: unknown) => fail(failedHere(error)));
  });
}

/** Of a call that was answered by an error of ours. */
export function failedOutcome(call: Call, error: AssayError): Outcome {
  return {
    status: error.status,
    responseBody: ownErrorBody(error, call.surface.errors),
    contentType: 'application/json',
    contentEncoding: null,
    stream: false,
    ttftMs: null,
    truncated: true,
    errorCode: error.code,
  };
}

function abandonedOutcome(plain: PlainRelay | null): Outcome {
  return {
    status: 499,
    responseBody: plain?.received() ?? Buffer.alloc(0),
    contentType: null,
    contentEncoding: null,
    stream: false,
    ttftMs: null,
    truncated: true,
    errorCode: 'client_closed_request',
  };
}

/** Nobody reads this: the client is gone, the HTTP layer only wants an answer to end its work. */
function goneReply(): Response {
  return new Reply(null, { status: 499 });
}
