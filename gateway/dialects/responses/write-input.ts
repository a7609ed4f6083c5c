/** Writes a conversation as the items of OpenAI's Responses. */
import type { JsonObject } from '#core/json/mod.ts';
import { toOpenAiCallId } from '../call-ids.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ImagePart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../conversation.ts';
import { toUrl } from '../media.ts';
import { writeReasoning } from './reasoning.ts';

/**
 * Writes the items, each part in its place.
 * @param provider the name of the provider that gets them
 */
export function writeInput({ system, turns }: Conversation, provider: string): JsonObject[] {
  const first = system.length === 0 ? [] : [message('system', system.map(writeContent))];
  const others = turns.flatMap(({ role, parts }) =>
    role === 'user' ? writeUser(parts) : writeAssistant(parts, provider),
  );
  return [...first, ...others];
}

function message(role: string, content: JsonObject[]): JsonObject {
  return { type: 'message', role, content };
}

/** Adds content to the message that the items end with, or begins one. */
function addContent(items: JsonObject[], role: string, content: JsonObject): void {
  const last = items.at(-1);
  if (last?.type === 'message') (last.content as JsonObject[]).push(content);
  else items.push(message(role, [content]));
}

/** Writes a turn of the user's: results of tools are items of their own, between messages. */
function writeUser(parts: readonly UserPart[]): JsonObject[] {
  const items: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'tool_result') items.push(writeResult(part));
    else addContent(items, 'user', writeContent(part));
  }
  return items;
}

function writeContent(part: TextPart | ImagePart | DocumentPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', image_url: toUrl(part.source), detail: 'auto' };
    case 'document':
      return writeDocument(part);
  }
}

function writeDocument({ source, title }: DocumentPart): JsonObject {
  switch (source.type) {
    case 'url':
      return { type: 'input_file', file_url: source.url };
    case 'text':
      return { type: 'input_text', text: title === null ? source.text : `${title}\n\n${source.text}` };
    case 'base64':
      return { type: 'input_file', filename: title ?? 'document.pdf', file_data: toUrl(source) };
  }
}

/** Writes the result of a tool: its text, or a list where it has more. Failures have no field of their own. */
function writeResult({ callId, content, isError }: ToolResultPart): JsonObject {
  const parts = content.map(writeContent);
  if (isError) parts.unshift({ type: 'input_text', text: 'Error:' });
  const texts = parts.flatMap(({ type, text }) => (type === 'input_text' ? [String(text)] : []));
  const output = texts.length < parts.length ? parts : texts.join(isError ? ' ' : '\n');
  return { type: 'function_call_output', call_id: toOpenAiCallId(callId), output };
}

/**
 * Writes a turn of the model's. Reasoning that nothing follows is left out: OpenAI refuses it without the item that it led to, as it is
 * where the limit of tokens cut an answer off.
 *
 * Messages have a phase, for which Anthropic's have no place: it follows from where they stand. Without it, models since
 * GPT-5.3-Codex take what they said before the call of a tool for a last word, and stop early.
 * https://developers.openai.com/api/docs/guides/prompt-guidance#phase-parameter
 */
function writeAssistant(parts: readonly AssistantPart[], provider: string): JsonObject[] {
  const items: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'text') addContent(items, 'assistant', { type: 'output_text', text: part.text });
    else if (part.type === 'tool_call') items.push(writeCall(part));
    else items.push(...writeReasoning(part, provider));
  }
  while (items.at(-1)?.type === 'reasoning') items.pop();
  const last = items.at(-1);
  for (const item of items)
    if (item.type === 'message') item.phase = item === last ? 'final_answer' : 'commentary';
  return items;
}

function writeCall({ id, name, input }: ToolCallPart): JsonObject {
  return {
    type: 'function_call',
    call_id: toOpenAiCallId(id),
    name,
    arguments: JSON.stringify(input),
  };
}
