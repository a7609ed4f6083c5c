/** The texts of a call whose tokens its provider did not count. Pure. */
import { readBegunUsage, type Usage } from '#core/chat/mod.ts';
import { ERROR_CODES } from '#core/contracts/errors.ts';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import type { JsonObject } from '#core/json/mod.ts';
import {
  type Countable,
  countableAnswer,
  countableConversation,
  countablePlain,
  isEmbeddings,
} from './tokens/mod.ts';

/** A side of a call: a text to count, the number of its tokens if known, or null if neither is known. */
export type Side = Countable | number | null;

/** The sides of a call to count. */
export type Uncounted = {
  prompt: Side;
  completion: Side;
  /** The usage that the provider had reported when its answer broke off; null: none. */
  begun: Usage | null;
};

/** A recorded call. */
export type CountedCall = {
  head: LogEntryHead;
  /** Parsed; `{}` where they were omitted. */
  request: JsonObject;
  answer: JsonObject;
  /** The usage that the provider reported; null: none. */
  usage: Usage | null;
};

const CLIENT_LEFT = ERROR_CODES.client_closed_request.status;

/** Returns the uncounted part of a call; null when the provider counted, nothing was charged, or the answer is no text. */
export function uncountedOf({ head, request, answer, usage }: CountedCall): Uncounted | null {
  const isSuccess = head.status >= 200 && head.status < 300;
  // A stream begins with a success. An error in its middle becomes its status, but the earlier part was charged.
  const isAnswered = isSuccess || head.status === CLIENT_LEFT || (head.stream && head.truncated);
  if (!isAnswered || head.cachedFrom !== undefined) return null;
  if (usage !== null) return head.truncated ? uncountedRest(answer, usage) : null;
  if (isEmbeddings(answer)) return { prompt: countablePlain(request.input), completion: 0, begun: null };
  const completion = countableAnswer(answer);
  if (completion === null && !(head.omitResponse && wasText(answer))) return null;
  const begun = readBegunUsage(answer);
  return { prompt: begun?.promptTokens ?? promptOf(request), completion, begun };
}

/**
 * Returns the uncounted part of an answer that broke off with usage. A Messages stream counts the prompt at its beginning,
 * with the first token or two of the answer; the answer's count follows at its end, with the stop reason. Other dialects
 * report usage only when it is final.
 */
function uncountedRest(answer: JsonObject, begun: Usage): Uncounted | null {
  const { type, stop_reason: stopReason } = answer;
  if (type !== 'message' || typeof stopReason === 'string') return null;
  const completion = countableAnswer(answer);
  return completion === null ? null : { prompt: begun.promptTokens, completion, begun };
}

/** Returns whether an answer whose text is omitted had text, by its skeleton. */
function wasText({ object, type }: JsonObject): boolean {
  return typeof object === 'string' || type === 'message';
}

function promptOf(request: JsonObject): Countable | null {
  const { prompt } = request;
  const isPlain = typeof prompt === 'string' || Array.isArray(prompt);
  return isPlain ? countablePlain(prompt) : countableConversation(request);
}
