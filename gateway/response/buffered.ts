/**
 * An answer in one piece: taken whole, committed to the log, then sent. Nobody can use half of a JSON document, and
 * only so can its last byte wait for its record.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { type AnswerSink, encodingOf, failedHere, type ProviderAnswer } from '#platform/http-client/mod.ts';
import { GatheredBytes, Reply } from '#platform/http-server/mod.ts';
import type { Call, Outcome } from '../request/call.ts';
import type { RecordOutcome } from '../request/record.ts';
import { detectErrorPayload } from './error-in-success.ts';
import { answerHeaders, errorTypeOf, type HeaderPairs, ownErrorBody } from './reply.ts';
import { findInvalidBody, pageOf } from './validate-body.ts';

export type PlainRelay = AnswerSink & {
  /** What has come so far, for the record of a call whose client left. */
  received(): Buffer;
};

export type PlainRelayOptions = {
  call: Call;
  answer: ProviderAnswer;
  record: RecordOutcome;
  /** Beyond this the answer is refused: it would be held in memory. */
  maxAnswerBytes: number;
  respond(response: Response): void;
};

/** How much of a provider's page is quoted in an error message. */
const QUOTED_CHARACTERS = 2_000;

type Answer = { status: number; body: Buffer; headers: HeaderPairs; errorCode: string | null };

/** What the record says: of an error under the status of a success, the one that it would have had. */
function recordedStatus({ status }: Answer, answer: ProviderAnswer, raw: Buffer): number {
  return status > 299 ? status : (detectErrorPayload(raw, encodingOf(answer)) ?? status);
}

/** The sink of a plain answer. */
export function relayPlain(options: PlainRelayOptions): PlainRelay {
  const { call, answer } = options;
  const gathered = new GatheredBytes();
  const received = () => gathered.bytes();

  const finish = async (result: Answer, raw: Buffer, truncated: boolean): Promise<void> => {
    const outcome: Outcome = {
      status: recordedStatus(result, answer, raw),
      responseBody: raw.length === 0 ? result.body : raw,
      contentType: answer.headers['content-type'] ?? null,
      contentEncoding: raw.length === 0 ? null : encodingOf(answer),
      stream: false,
      ttftMs: null,
      truncated,
      errorCode: result.errorCode,
    };
    const kept = await options.record(outcome);
    if (!kept) result.headers.push(['service-logged', 'false']);
    options.respond(new Reply(result.body, { status: result.status, headers: result.headers }));
  };

  const fail = (error: AssayError): void => {
    void finish(ownError(call, error), received(), true);
  };

  return {
    received,
    data: (chunk) => {
      if (gathered.length + chunk.length > options.maxAnswerBytes) {
        answer.stop();
        gathered.clear();
        void finish(tooLarge(call, options.maxAnswerBytes), Buffer.alloc(0), true);
        return;
      }
      gathered.push(chunk);
    },
    end: () => {
      const raw = received();
      const result = answerFor(call, answer, raw);
      // A promise only of packed bodies: others are judged at once.
      if (result instanceof Promise)
        result.then((judged) => finish(judged, raw, false)).catch((error) => fail(failedHere(error)));
      else void finish(result, raw, false);
    },
    fail,
  };
}

function ownError(call: Call, error: AssayError): Answer {
  return {
    status: error.status,
    body: ownErrorBody(error, call.surface.errors),
    headers: [['content-type', 'application/json'], ...call.ownHeaders],
    errorCode: error.code,
  };
}

function tooLarge(call: Call, maxBytes: number): Answer {
  const { label } = call.route.row;
  const message = `The provider ${label} sent an answer of more than ${maxBytes} bytes`;
  return ownError(call, new AssayError('provider_bad_answer', message));
}

/** What the client gets: the provider's bytes as they are, unless no client could read them. */
function answerFor(call: Call, answer: ProviderAnswer, raw: Buffer): Answer | Promise<Answer> {
  const { status, headers } = answer;
  const asItCame = () => ({
    status,
    body: raw,
    headers: answerHeaders(headers, call.ownHeaders),
    errorCode: null,
  });
  if (status >= 400)
    return whenKnown(pageOf(answer, raw), (page) =>
      page === null ? asItCame() : ofPage(call, answer, page),
    );
  return whenKnown(findInvalidBody(answer, raw, call.route.row.label), (refusal) =>
    refusal === null ? asItCame() : ownError(call, refusal),
  );
}

function whenKnown<T>(known: T | Promise<T>, use: (value: T) => Answer): Answer | Promise<Answer> {
  return known instanceof Promise ? known.then(use) : use(known);
}

/** An error of the provider's status that quotes its page. */
function ofPage(call: Call, { status, headers }: ProviderAnswer, page: string): Answer {
  const { label } = call.route.row;
  const text = page.length > QUOTED_CHARACTERS ? `${page.slice(0, QUOTED_CHARACTERS)}…` : page;
  const message = `The provider ${label} answered ${status}${text === '' ? ' without a body' : `: ${text}`}`;
  // The body is ours now, so what described the provider's goes; retry-after and x-ratelimit-* stay.
  const kept = answerHeaders(headers, call.ownHeaders).filter(
    ([name]) => !name.startsWith('content-') && name !== 'etag',
  );
  kept.push(['content-type', 'application/json']);
  const told = call.surface.errors.body({ status, message, type: errorTypeOf(status), code: null });
  return { status, body: Buffer.from(JSON.stringify(told)), headers: kept, errorCode: null };
}
