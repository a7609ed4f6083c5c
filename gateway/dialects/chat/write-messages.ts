/** Writes turns as OpenAI's messages. */
import type { JsonObject } from '#core/json/mod.ts';
import { toMistralCallId } from '../call-ids.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ImagePart,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  UserPart,
} from '../conversation.ts';
import { refuse } from '../fields.ts';
import { isForeignThinking } from '../foreign-reasoning.ts';
import { toUrl } from '../media.ts';
import { writeThinkingBlock, writeToolCall } from './write-completion.ts';

/**
 * Makers whose additional fields, or form of ids, are written. Without Anthropic's, breakpoints of the cache and signed thinking of
 * earlier turns are left out, which changes no answer, and a failed tool result begins with `Error: `.
 */
export type Extensions = 'none' | 'anthropic' | 'deepseek' | 'google' | 'mistral';

/** Writes the messages. @throws AssayError invalid_body */
export function writeMessages({ system, turns }: Conversation, extensions: Extensions): JsonObject[] {
  const first = system.length === 0 ? [] : [{ role: 'system', content: writeTexts(system, extensions) }];
  const others = turns.flatMap((turn, index) =>
    turn.role === 'user'
      ? writeUser(turn.parts, `messages[${index}]`, extensions)
      : writeAssistant(turn.parts, extensions),
  );
  return [...first, ...others];
}

function writeCacheControl(part: { cacheControl: JsonObject | null }, extensions: Extensions): JsonObject {
  return extensions !== 'anthropic' || part.cacheControl === null ? {} : { cache_control: part.cacheControl };
}

/** Writes texts; a single one without a breakpoint is a plain string, which every provider takes. */
function writeTexts(parts: readonly TextPart[], extensions: Extensions): unknown {
  const written = parts.map((part) => ({
    type: 'text',
    text: part.text,
    ...writeCacheControl(part, extensions),
  }));
  return written.length === 1 && !('cache_control' in written[0]!) ? parts[0]!.text : written;
}

/** Writes a turn of the user's: tool results are messages of their own, before the user's message. */
function writeUser(parts: readonly UserPart[], field: string, extensions: Extensions): JsonObject[] {
  const results = parts.filter((part) => part.type === 'tool_result');
  const content = parts.filter((part) => part.type !== 'tool_result');
  const messages = results.map((part) => writeToolResult(part, field, extensions));
  if (content.length === 0) return messages;
  const texts = content.filter((part) => part.type === 'text');
  const isText = texts.length === content.length;
  const written = isText
    ? writeTexts(texts, extensions)
    : content.map((part) => writeContent(part, field, extensions));
  return [...messages, { role: 'user', content: written }];
}

function writeToolResult(part: ToolResultPart, field: string, extensions: Extensions): JsonObject {
  const texts = part.content.map((item) =>
    item.type === 'text'
      ? item
      : refuse(field, `has a ${item.type} in a tool_result, where OpenAI's dialect takes only text`),
  );
  const message = { role: 'tool', tool_call_id: writeCallId(part.callId, extensions) };
  if (extensions === 'anthropic') {
    const content = texts.length === 0 ? '' : writeTexts(texts, extensions);
    return {
      ...message,
      content,
      ...(part.isError ? { is_error: true } : {}),
      ...writeCacheControl(part, extensions),
    };
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
      return { type: 'text', text: part.text, ...writeCacheControl(part, extensions) };
    case 'image':
      return {
        type: 'image_url',
        image_url: { url: toUrl(part.source) },
        ...writeCacheControl(part, extensions),
      };
    case 'document':
      return { ...writeDocument(part, field), ...writeCacheControl(part, extensions) };
  }
}

/** Writes a document. In chat completions OpenAI refuses files without a name, and files other than PDFs. */
function writeDocument({ source, title }: DocumentPart, field: string): JsonObject {
  if (source.type === 'url')
    refuse(field, "has a document by its URL, which OpenAI's dialect does not fetch");
  if (source.type === 'text')
    return { type: 'text', text: title === null ? source.text : `${title}\n\n${source.text}` };
  return { type: 'file', file: { filename: title ?? 'document.pdf', file_data: toUrl(source) } };
}

/** Writes a turn of the model's; none when nothing is left of it: OpenAI refuses a message without content and calls. */
function writeAssistant(parts: readonly AssistantPart[], extensions: Extensions): JsonObject[] {
  const texts = parts.filter((part) => part.type === 'text');
  const calls = parts.filter((part) => part.type === 'tool_call');
  const thinking = parts.filter((part) => part.type === 'thinking' || part.type === 'redacted_thinking');
  const written: JsonObject = {
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call, index) => ({
            ...writeToolCall({ ...call, id: writeCallId(call.id, extensions) }),
            ...(extensions === 'google' && index === 0 ? UNSIGNED_CALL : {}),
            ...writeCacheControl(call, extensions),
          })),
        }),
    ...writeThinking(thinking, calls.length > 0, extensions),
  };
  if (texts.length === 0 && Object.keys(written).length === 0) return [];
  const content = texts.length === 0 ? null : writeTexts(texts, extensions);
  return [{ role: 'assistant', content, ...written }];
}

function writeCallId(id: string, extensions: Extensions): string {
  return extensions === 'mistral' ? toMistralCallId(id) : id;
}

/**
 * The signature of a tool call whose own is not known: Google's models refuse the first call of a turn without one, and
 * Anthropic's dialect has no place for it. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const UNSIGNED_CALL = {
  extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
};

/**
 * Writes the thinking of an earlier turn. DeepSeek refuses tool calls without the reasoning before them, and takes an empty
 * one: https://api-docs.deepseek.com/guides/thinking_mode
 */
function writeThinking(
  thinking: readonly ThinkingPart[],
  hasCalls: boolean,
  extensions: Extensions,
): JsonObject {
  if (extensions === 'deepseek' && (hasCalls || thinking.length > 0)) {
    const texts = thinking.map((part) => (part.type === 'thinking' ? part.text : ''));
    return { reasoning_content: texts.join('') };
  }
  const signed = thinking.filter((part) => !isForeignThinking(part));
  if (extensions !== 'anthropic' || signed.length === 0) return {};
  return { thinking_blocks: signed.map(writeThinkingBlock) };
}
