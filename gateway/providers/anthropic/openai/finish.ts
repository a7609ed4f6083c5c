import type { FinishReason, Stop } from '../conversation.ts';

const FINISH_OF: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  // Mistral's name for the end of the model's context.
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** Reads `finish_reason`. Some providers send `stop` after tool calls, which Anthropic's clients would then not make. */
export function readFinish(value: unknown, hasCalls: boolean): Stop {
  const native = typeof value === 'string' ? value : null;
  const finish = native !== null && Object.hasOwn(FINISH_OF, native) ? FINISH_OF[native]! : 'stop';
  return {
    finish: finish === 'stop' && hasCalls ? 'tool_calls' : finish,
    native,
    sequence: null,
    refusal: null,
  };
}
