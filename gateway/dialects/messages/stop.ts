/** The reasons for which an answer ends, in Anthropic's and in OpenAI's names. */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { FinishReason, Stop } from '../conversation.ts';

/** https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
const FINISH_OF: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const REASON_OF: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/**
 * Reads `stop_reason` and the fields beside it. An unknown or missing reason is an ordinary end.
 * @param hasCalls whether the caller's own tools were called; the tool that holds the answer does not count
 */
export function readStop(from: JsonObject, hasCalls: boolean): Stop {
  const native = textOrNull(from.stop_reason);
  const finish = native !== null && Object.hasOwn(FINISH_OF, native) ? FINISH_OF[native]! : 'stop';
  const details = isObject(from.stop_details) ? from.stop_details : {};
  return {
    finish: finish === 'tool_calls' && !hasCalls ? 'stop' : finish,
    native,
    sequence: textOrNull(from.stop_sequence),
    refusal: textOrNull(details.explanation),
  };
}

/** Writes `stop_reason` and `stop_sequence`. */
export function writeStop(stop: Stop): JsonObject {
  return {
    stop_reason: stop.sequence === null ? REASON_OF[stop.finish] : 'stop_sequence',
    stop_sequence: stop.sequence,
  };
}
