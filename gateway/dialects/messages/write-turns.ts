/** Writes turns as Anthropic's messages and their blocks. */
import type { JsonObject } from '#core/json/mod.ts';
import { toAnthropicCallId } from '../call-ids.ts';
import type { AssistantPart, CacheControl, MediaSource, TextPart, Turn, UserPart } from '../conversation.ts';

function writeCacheControl(value: CacheControl): JsonObject {
  return value === null ? {} : { cache_control: value };
}

/** Writes a text block. */
export function writeText(part: TextPart): JsonObject {
  return { type: 'text', text: part.text, ...writeCacheControl(part.cacheControl) };
}

/** Writes a message; a single text without a breakpoint is a plain string. */
export function writeTurn({ role, parts }: Turn): JsonObject {
  const [first] = parts;
  const isPlain = parts.length === 1 && first?.type === 'text' && first.cacheControl === null;
  return { role, content: isPlain ? first.text : parts.map(writeBlock) };
}

function writeBlock(part: UserPart | AssistantPart): JsonObject {
  switch (part.type) {
    case 'text':
      return writeText(part);
    case 'image':
      return { type: 'image', source: writeSource(part.source), ...writeCacheControl(part.cacheControl) };
    case 'document': {
      const title = part.title === null ? {} : { title: part.title };
      return {
        type: 'document',
        source: writeSource(part.source),
        ...title,
        ...writeCacheControl(part.cacheControl),
      };
    }
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: toAnthropicCallId(part.callId),
        ...(part.content.length === 0
          ? {}
          : { content: writeTurn({ role: 'user', parts: part.content }).content }),
        ...(part.isError ? { is_error: true } : {}),
        ...writeCacheControl(part.cacheControl),
      };
    case 'tool_call':
      return {
        type: 'tool_use',
        id: toAnthropicCallId(part.id),
        name: part.name,
        input: part.input,
        ...writeCacheControl(part.cacheControl),
      };
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: part.data };
  }
}

function writeSource(source: MediaSource): JsonObject {
  switch (source.type) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
  }
}
