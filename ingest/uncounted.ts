/** What a provider did not count of a call, and what there is to count instead. Pure. */
import { readBegunUsage, type Usage } from '#core/chat/mod.ts';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import type { JsonObject } from '#core/json/mod.ts';
import {
  type Countable,
  countableAnswer,
  countableConversation,
  countablePlain,
  isEmbeddings,
} from './tokens/mod.ts';

/** A side of a call: what is to be counted, its tokens where they are known already, or null where nothing is known. */
export type Side = Countable | number | null;

export type Uncounted = {
  prompt: Side;
  completion: Side;
  /** What the provider had counted when its answer broke off; null: nothing. */
  begun: Usage | null;
};

export type CountedCall = {
  head: LogEntryHead;
  /** Parsed; `{}` where they were omitted. */
  request: JsonObject;
  answer: JsonObject;
  /** As the provider gave it. */
  usage: Usage | null;
};

const CLIENT_LEFT = 499;

/** Null when there is nothing to count: the provider did, nothing was bought, or what was answered is no text. */
export function uncountedOf({ head, request, answer, usage }: CountedCall): Uncounted | null {
  const isSuccess = head.status >= 200 && head.status < 300;
  // A stream begins with a success; when it tells of an error later, that is its status, and what came before was bought.
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
 * Messages tell at their beginning how long the prompt is, with a first token or two of the answer; how long that became
 * is told at its end, with the reason for it. What other dialects tell before the end is true when they tell it.
 */
function uncountedRest(answer: JsonObject, begun: Usage): Uncounted | null {
  const { type, stop_reason: stopReason } = answer;
  if (type !== 'message' || typeof stopReason === 'string') return null;
  const completion = countableAnswer(answer);
  return completion === null ? null : { prompt: begun.promptTokens, completion, begun };
}

/** Whether an answer whose text is omitted had any, by what is left of it. */
function wasText({ object, type }: JsonObject): boolean {
  return typeof object === 'string' || type === 'message';
}

function promptOf(request: JsonObject): Countable | null {
  const { prompt } = request;
  const isPlain = typeof prompt === 'string' || Array.isArray(prompt);
  return isPlain ? countablePlain(prompt) : countableConversation(request);
}
