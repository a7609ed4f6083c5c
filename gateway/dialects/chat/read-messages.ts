/** Reads the messages of a chat completion request: the system's texts apart, the others as turns. */
import {
  isObject,
  JsonFault,
  type JsonObject,
  MAX_BODY_DEPTH,
  parseExactObject,
  scanMembers,
} from '#core/json/mod.ts';
import type {
  AssistantPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
  UserPart,
} from '../conversation.ts';
import {
  arrayAt,
  flagAt,
  isAbsent,
  nameAt,
  objectAt,
  onlyFields,
  optionalObject,
  optionalText,
  refuse,
  textAt,
} from '../fields.ts';
import { readTexts, readUserParts } from './read-parts.ts';

/** The fields of every message. `name`, which tells speakers apart, is refused: Anthropic has no such field. */
const COMMON = ['role', 'content', 'cache_control'];
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(COMMON),
  developer: new Set(COMMON),
  user: new Set(COMMON),
  // `name` is left out: the tool's name is known from its call.
  tool: new Set([...COMMON, 'tool_call_id', 'name', 'is_error']),
  // Clients send the gateway's own answers back unchanged. Reasoning without a signature is left out, as its makers ask:
  // https://api-docs.deepseek.com/guides/reasoning_model
  assistant: new Set([
    ...COMMON,
    'tool_calls',
    'refusal',
    'thinking_blocks',
    'reasoning_content',
    'reasoning',
    'annotations',
    // Copies that clients add of what the message says elsewhere: OpenAI's Python client, and LiteLLM's.
    'parsed',
    'provider_specific_fields',
    // Signed reasoning of other makers: OpenRouter's, and Gemini's.
    'reasoning_details',
    'extra_content',
  ]),
};

/**
 * Reads the messages. System and developer messages, wherever they are, become the system's texts in their order: Anthropic
 * takes them only before a conversation. Consecutive tool results and the user's next message become one turn.
 * @throws AssayError invalid_body
 */
export function readMessages(messages: readonly unknown[]): { system: TextPart[]; turns: Turn[] } {
  checkArgumentValues(messages);
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  /** Ids of the tool calls of the assistant's last turn that have no result yet. */
  let awaited = new Set<string>();
  for (const [index, value] of messages.entries()) {
    const field = `messages[${index}]`;
    const message = objectAt(value, field);
    const role = textAt(message.role, `${field}.role`);
    const known = Object.hasOwn(FIELDS, role)
      ? FIELDS[role]!
      : refuse(`${field}.role`, `"${role.slice(0, 40)}" is not known`);
    onlyFields(message, known, field, 'cannot be translated to Anthropic');
    if (role === 'assistant') {
      const parts = readAssistant(message, field);
      awaited = new Set(parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])));
      if (parts.length > 0) turns.push({ role: 'assistant', parts });
    } else if (role === 'user') {
      addUser(turns, withCacheControl(readUserParts(message.content, `${field}.content`), message, field));
    } else if (role === 'tool') {
      const result = readToolResult(message, field);
      if (awaited.delete(result.callId)) addUser(turns, [result]);
      // Anthropic refuses a result without its call: the content is kept as the user's.
      else addUser(turns, result.content);
    } else {
      system.push(...withCacheControl(readTexts(message.content, `${field}.content`), message, field));
    }
  }
  if (turns.length === 0)
    refuse('messages', 'must hold a message of the user or the assistant that is not empty');
  return { system, turns };
}

/** The bound of a body's own values, which do not count those of arguments: they are JSON within a string. */
const MAX_ARGUMENT_VALUES = 250_000;

function checkArgumentValues(messages: readonly unknown[]): void {
  const texts = messages.flatMap(argumentTexts);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  // A value takes two characters, itself and what separates it from the next.
  if (characters <= 2 * MAX_ARGUMENT_VALUES) return;
  if (texts.reduce((sum, text) => sum + countValues(text), 0) > MAX_ARGUMENT_VALUES) {
    refuse(
      'messages',
      `hold more than ${MAX_ARGUMENT_VALUES} values in the arguments of tools, too much to translate`,
    );
  }
}

function argumentTexts(message: unknown): string[] {
  const calls = isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return calls.flatMap((call: unknown) => {
    const text = isObject(call) && isObject(call.function) ? call.function.arguments : null;
    return typeof text === 'string' ? [text] : [];
  });
}

/** Returns the number of values in a JSON text; 0 for a text that is none, which is refused where it is read. */
function countValues(text: string): number {
  try {
    return scanMembers(Buffer.from(text), { names: [], maxDepth: MAX_BODY_DEPTH }).values;
  } catch (error) {
    if (error instanceof JsonFault) return 0;
    throw error;
  }
}

/** Returns the parts with the message's own breakpoint, which belongs to its last part. */
function withCacheControl<Part extends { cacheControl: unknown }>(
  parts: Part[],
  message: JsonObject,
  field: string,
): Part[] {
  const cacheControl = optionalObject(message.cache_control, `${field}.cache_control`);
  const last = parts.at(-1);
  return cacheControl === null || last === undefined
    ? parts
    : [...parts.slice(0, -1), { ...last, cacheControl }];
}

/** Adds a turn of the user's, or joins the tool results before it; two messages of the user's own stay two turns. */
function addUser(turns: Turn[], parts: UserPart[]): void {
  if (parts.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === 'user' && last.parts.every(({ type }) => type === 'tool_result'))
    last.parts.push(...parts);
  else turns.push({ role: 'user', parts });
}

function readToolResult(message: JsonObject, field: string): ToolResultPart {
  return {
    type: 'tool_result',
    callId: nameAt(message.tool_call_id, `${field}.tool_call_id`),
    content: readTexts(message.content, `${field}.content`),
    isError: flagAt(message.is_error, `${field}.is_error`),
    cacheControl: optionalObject(message.cache_control, `${field}.cache_control`),
  };
}

function readAssistant(message: JsonObject, field: string): AssistantPart[] {
  const calls = isAbsent(message.tool_calls) ? [] : arrayAt(message.tool_calls, `${field}.tool_calls`);
  const thinking = isAbsent(message.thinking_blocks)
    ? []
    : arrayAt(message.thinking_blocks, `${field}.thinking_blocks`);
  const parts: (TextPart | ToolCallPart)[] = [
    ...readTexts(withoutThinking(message.content), `${field}.content`),
    ...readTexts(optionalText(message.refusal, `${field}.refusal`), `${field}.refusal`),
    ...calls.map((call, index) => readToolCall(call, `${field}.tool_calls[${index}]`)),
  ];
  return [
    ...thinking.map((block, index) => readThinking(block, `${field}.thinking_blocks[${index}]`)),
    ...withCacheControl(parts, message, field),
  ];
}

/** Returns a content without the reasoning of Mistral's models, which has no signature. */
function withoutThinking(content: unknown): unknown {
  return Array.isArray(content)
    ? content.filter((part: unknown) => !isObject(part) || part.type !== 'thinking')
    : content;
}

/** Reads a signed block, in the form of the gateway's answers. */
function readThinking(value: unknown, field: string): ThinkingPart {
  const block = objectAt(value, field);
  if (block.type === 'redacted_thinking')
    return { type: block.type, data: textAt(block.data, `${field}.data`) };
  if (block.type !== 'thinking') return refuse(`${field}.type`, 'must be thinking or redacted_thinking');
  return {
    type: block.type,
    text: textAt(block.thinking, `${field}.thinking`),
    signature: textAt(block.signature, `${field}.signature`),
  };
}

function readToolCall(value: unknown, field: string): ToolCallPart {
  const call = objectAt(value, field);
  if (call.type !== undefined && call.type !== 'function') refuse(`${field}.type`, 'must be function');
  const { name, arguments: text } = objectAt(call.function, `${field}.function`);
  return {
    type: 'tool_call',
    id: nameAt(call.id, `${field}.id`),
    name: nameAt(name, `${field}.function.name`),
    input: readArguments(textAt(text ?? '', `${field}.function.arguments`), `${field}.function.arguments`),
    cacheControl: optionalObject(call.cache_control, `${field}.cache_control`),
  };
}

/** Reads a call's arguments; some clients send an empty text for none. */
function readArguments(text: string, field: string): JsonObject {
  if (text.trim() === '') return {};
  let input: JsonObject | null;
  try {
    input = parseExactObject(text);
  } catch (error) {
    // Nested too deep, which is told for the whole request.
    if (error instanceof RangeError) throw error;
    return refuse(field, 'is not valid JSON');
  }
  return input ?? refuse(field, 'must be a JSON object');
}
