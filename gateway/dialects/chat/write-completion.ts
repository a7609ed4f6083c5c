import type { JsonObject } from '#core/json/mod.ts';
import type { Answer, Stop, ThinkingPart, ToolCallPart } from '../conversation.ts';
import { writeCompletionUsage } from './usage.ts';

/**
 * Writes a chat completion.
 * @param created seconds since 1970
 */
export function writeCompletion(answer: Answer, created: number): JsonObject {
  const { stop, usage } = answer;
  return {
    id: answer.id,
    object: 'chat.completion',
    created,
    model: answer.model,
    choices: [
      {
        index: 0,
        message: writeMessage(answer),
        logprobs: null,
        finish_reason: stop.finish,
        ...nativeStop(stop),
      },
    ],
    ...(usage === null ? {} : { usage: writeCompletionUsage(usage) }),
  };
}

/** Returns the provider's own reason for the end, which is more precise than OpenAI's. */
export function nativeStop({ native, sequence }: Stop): JsonObject {
  return {
    ...(native === null ? {} : { native_finish_reason: native }),
    ...(sequence === null ? {} : { stop_sequence: sequence }),
  };
}

function writeMessage({ parts, stop }: Answer): JsonObject {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const thinking = parts.filter((part) => part.type === 'thinking' || part.type === 'redacted_thinking');
  const reasoning = thinking.flatMap((part) => (part.type === 'thinking' ? [part.text] : [])).join('');
  const calls = parts.filter((part) => part.type === 'tool_call');
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: stop.refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(thinking.length === 0 ? {} : { thinking_blocks: thinking.map(writeThinkingBlock) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(writeToolCall) }),
  };
}

/** Writes a signed block, in the form that the next request must send back. */
export function writeThinkingBlock(part: ThinkingPart): JsonObject {
  return part.type === 'thinking'
    ? { type: 'thinking', thinking: part.text, signature: part.signature }
    : { type: 'redacted_thinking', data: part.data };
}

/** Writes a tool call; its arguments are JSON in a string. */
export function writeToolCall(part: ToolCallPart): JsonObject {
  return {
    id: part.id,
    type: 'function',
    function: { name: part.name, arguments: JSON.stringify(part.input) },
  };
}
