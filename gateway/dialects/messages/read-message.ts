import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { ANSWER_TOOL, type Answer, type AssistantPart } from '../conversation.ts';
import { readStop } from './stop.ts';
import { readMessageUsage } from './usage.ts';

/**
 * Reads a Messages answer. Blocks of Anthropic's server tools, which no translated request can ask for, are ignored.
 * @throws AssayError provider_bad_answer when it is not a message
 */
export function readMessage(message: JsonObject): Answer {
  if (!Array.isArray(message.content))
    throw new AssayError('provider_bad_answer', 'The provider answered with something that is not a message');
  const parts = message.content.flatMap(readBlock);
  return {
    id: textOrNull(message.id) ?? '',
    model: textOrNull(message.model) ?? '',
    parts,
    stop: readStop(
      message,
      parts.some(({ type }) => type === 'tool_call'),
    ),
    usage: readMessageUsage(message.usage),
  };
}

function readBlock(block: unknown): AssistantPart[] {
  if (!isObject(block)) return [];
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textOrNull(block.text) ?? '', cacheControl: null }];
    case 'thinking':
      return [
        {
          type: 'thinking',
          text: textOrNull(block.thinking) ?? '',
          signature: textOrNull(block.signature) ?? '',
        },
      ];
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: textOrNull(block.data) ?? '' }];
    case 'tool_use':
      return [readToolUse(block)];
    default:
      return [];
  }
}

function readToolUse(block: JsonObject): AssistantPart {
  const input = isObject(block.input) ? block.input : {};
  if (block.name === ANSWER_TOOL) return { type: 'text', text: JSON.stringify(input), cacheControl: null };
  return {
    type: 'tool_call',
    id: textOrNull(block.id) ?? '',
    name: textOrNull(block.name) ?? '',
    input,
    cacheControl: null,
  };
}
