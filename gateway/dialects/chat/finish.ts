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

/**
 * The reasons of answers that failed on their way: OpenRouter's and Mistral's, and DeepSeek's. As an ordinary end they would
 * pass a part of the answer off as all of it.
 */
const FAILURES: ReadonlySet<unknown> = new Set(['error', 'insufficient_system_resource']);

/** Returns whether a `finish_reason` tells of a failure. */
export function isFailure(reason: unknown): reason is string {
  return FAILURES.has(reason);
}

/** Returns the sentence for an answer that failed, when its provider has said no more. */
export function failureMessage(reason: string): string {
  return `The provider ended its answer with the finish reason "${reason}"`;
}

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
