/** Turns as OpenAI's messages. */
import type { JsonObject } from '#core/json/mod.ts';
import { refuse } from '../fields.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ImagePart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../form.ts';
import { urlOf } from '../media.ts';
import { writeThinkingBlock, writeToolCall } from './write-completion.ts';

/**
 * Fields that Anthropic's dialect has and OpenAI's has not. `none`: breakpoints of the cache and thinking of earlier
 * turns are left out, which changes no answer, and a failed tool says so in its text.
 */
export type Extensions = 'none' | 'anthropic';

/** @throws AssayError invalid_body */
export function writeMessages({ system, turns }: Conversation, extensions: Extensions): JsonObject[] {
  const first = system.length === 0 ? [] : [{ role: 'system', content: writeTexts(system, extensions) }];
  const others = turns.flatMap((turn, index) =>
    turn.role === 'user'
      ? writeUser(turn.parts, `messages[${index}]`, extensions)
      : [writeAssistant(turn.parts, extensions)],
  );
  return [...first, ...others];
}

function marked(part: { cacheControl: JsonObject | null }, extensions: Extensions): JsonObject {
  return extensions === 'none' || part.cacheControl === null ? {} : { cache_control: part.cacheControl };
}

/** One text without a breakpoint is a string, which every provider takes. */
function writeTexts(parts: readonly TextPart[], extensions: Extensions): unknown {
  const written = parts.map((part) => ({ type: 'text', text: part.text, ...marked(part, extensions) }));
  return written.length === 1 && !('cache_control' in written[0]!) ? parts[0]!.text : written;
}

/** Results of tools are messages of their own, before what the user says. */
function writeUser(parts: readonly UserPart[], field: string, extensions: Extensions): JsonObject[] {
  const results = parts.filter((part) => part.type === 'tool_result');
  const said = parts.filter((part) => part.type !== 'tool_result');
  const messages = results.map((part) => writeToolResult(part, field, extensions));
  if (said.length === 0) return messages;
  const texts = said.filter((part) => part.type === 'text');
  const isText = texts.length === said.length;
  const content = isText
    ? writeTexts(texts, extensions)
    : said.map((part) => writeContent(part, field, extensions));
  return [...messages, { role: 'user', content }];
}

function writeToolResult(part: ToolResultPart, field: string, extensions: Extensions): JsonObject {
  const texts = part.content.map((item) =>
    item.type === 'text'
      ? item
      : refuse(field, `has a ${item.type} in a tool_result, where OpenAI's dialect takes text alone`),
  );
  const message = { role: 'tool', tool_call_id: part.callId };
  if (extensions === 'anthropic') {
    const content = texts.length === 0 ? '' : writeTexts(texts, extensions);
    return { ...message, content, ...(part.isError ? { is_error: true } : {}), ...marked(part, extensions) };
  }
  const text = texts.length <= 1 ? (texts[0]?.text ?? '') : null;
  if (!part.isError) return { ...message, content: text ?? writeTexts(texts, extensions) };
  return { ...message, content: `Error: ${texts.map((item) => item.text).join('\n')}` };
}

function writeContent(
  part: TextPart | ImagePart | DocumentPart,
  field: string,
  extensions: Extensions,
): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...marked(part, extensions) };
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part.source) }, ...marked(part, extensions) };
    case 'document': {
      if (part.source.type === 'url')
        refuse(field, "has a document by its URL, which OpenAI's dialect does not fetch");
      const filename = part.title === null ? {} : { filename: part.title };
      return {
        type: 'file',
        file: { ...filename, file_data: urlOf(part.source) },
        ...marked(part, extensions),
      };
    }
  }
}

function writeAssistant(parts: readonly AssistantPart[], extensions: Extensions): JsonObject {
  const texts = parts.filter((part) => part.type === 'text');
  const calls = parts.filter((part) => part.type === 'tool_call');
  const thinking = parts.filter((part) => part.type === 'thinking' || part.type === 'redacted_thinking');
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : writeTexts(texts, extensions),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call) => ({ ...writeToolCall(call), ...marked(call, extensions) })) }),
    ...(extensions === 'none' || thinking.length === 0
      ? {}
      : { thinking_blocks: thinking.map(writeThinkingBlock) }),
  };
}
