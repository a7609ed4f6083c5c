/**
 * Answers that are errors under the status of a success. Some providers send those when a model failed that had begun to
 * work: the call may have another outcome, and who decides about that must hear of it before the client does.
 */
import {
  type AnswerSink,
  encodingOf,
  isEventStream,
  type ProviderAnswer,
} from '#platform/http-client/mod.ts';
import { detectErrorPayload, maxErrorBytes, mayHoldError } from './error-in-success.ts';

/**
 * The sink of an answer that is held back for as long as it may be such an error.
 * @param begin where the answer goes, once it is known what status it counts as
 */
export function holdPossibleError(answer: ProviderAnswer, begin: (status: number) => AnswerSink): AnswerSink {
  const { status } = answer;
  if (status < 200 || status > 299 || isEventStream(answer)) return begin(status);
  const encoding = encodingOf(answer);
  const maxHeldBytes = maxErrorBytes(encoding);
  let held: Buffer = Buffer.alloc(0);
  let sink: AnswerSink | null = null;
  const open = (counted: number): AnswerSink => {
    sink = begin(counted);
    if (held.length > 0) sink.data(held);
    return sink;
  };
  return {
    data: (chunk) => {
      if (sink !== null) {
        sink.data(chunk);
        return;
      }
      const mayBeError = held.length > 0 || encoding !== null || mayHoldError(chunk);
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (!mayBeError || held.length > maxHeldBytes) open(status);
    },
    end: () => (sink ?? open(detectErrorPayload(held, encoding) ?? status)).end(),
    fail: (error) => (sink ?? open(status)).fail(error),
  };
}
