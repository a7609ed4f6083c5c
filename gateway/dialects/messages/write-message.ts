import type { JsonObject } from '#core/json/mod.ts';
import type { Answer, AssistantPart } from '../conversation.ts';
import { writeStop } from './stop.ts';
import { writeMessageUsage } from './usage.ts';

/** Writes a Messages answer. */
export function writeMessage(answer: Answer): JsonObject {
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.parts.map(writeBlock),
    ...writeStop(answer.stop),
    usage: writeMessageUsage(answer.usage),
  };
}

function writeBlock(part: AssistantPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: part.data };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input };
  }
}
