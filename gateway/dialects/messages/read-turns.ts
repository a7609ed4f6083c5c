/** Reads the messages of a Messages request as turns. */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  TextPart,
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

const NOT_TRANSLATED = "cannot be translated to OpenAI's dialect";
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content']);

/** The fields of each block. `citations` are accepted because they are switched off, or belong to an earlier answer. */
const BLOCK_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'cache_control', 'citations']),
  image: new Set(['type', 'source', 'cache_control']),
  document: new Set(['type', 'source', 'title', 'cache_control', 'citations']),
  tool_result: new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']),
  tool_use: new Set(['type', 'id', 'name', 'input', 'cache_control', 'caller']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
};

/**
 * The line that Claude Code puts before its instructions, for Anthropic's bill. It differs in each request, so that what follows would
 * be in no provider's cache of prompts: https://github.com/anthropics/claude-code/issues/68900
 */
const BILLING_LINE = /^x-anthropic-billing-header:.*\n*/;

/** Reads instructions, without what is not for the model. @throws AssayError invalid_body */
export function readSystem(value: unknown, field: string): TextPart[] {
  if (isAbsent(value)) return [];
  return blocksAt(value, field).flatMap(([block, at]) => {
    const part = readText(block, at);
    if (!BILLING_LINE.test(part.text)) return [part];
    const text = part.text.replace(BILLING_LINE, '');
    return text === '' ? [] : [{ ...part, text }];
  });
}

/**
 * Reads the messages. Those of the system, which may be anywhere among the others, are returned apart.
 * @throws AssayError invalid_body
 */
export function readTurns(messages: readonly unknown[]): { system: TextPart[]; turns: Turn[] } {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  for (const [index, value] of messages.entries()) {
    const field = `messages[${index}]`;
    const message = objectAt(value, field);
    onlyFields(message, MESSAGE_FIELDS, field, 'is not known here');
    const blocks = blocksAt(message.content, `${field}.content`);
    if (message.role === 'user') turns.push({ role: 'user', parts: blocks.map(readUserBlock) });
    else if (message.role === 'assistant')
      turns.push({ role: 'assistant', parts: blocks.map(readAssistantBlock) });
    else if (message.role === 'system') system.push(...readSystem(message.content, `${field}.content`));
    else refuse(`${field}.role`, 'must be user, assistant or system');
  }
  if (turns.length === 0) refuse('messages', 'must hold a message of the user or the assistant');
  return { system, turns };
}

type Block = [JsonObject, string];

/** Returns the blocks of a content, each with the path of its field. Their fields are checked. */
function blocksAt(content: unknown, field: string): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [[{ type: 'text', text: content }, field]];
  return arrayAt(content, field).map((value, index) => {
    const at = `${field}[${index}]`;
    const block = objectAt(value, at);
    const type = textAt(block.type, `${at}.type`);
    const known = Object.hasOwn(BLOCK_FIELDS, type)
      ? BLOCK_FIELDS[type]!
      : refuse(`${at}.type`, `"${type.slice(0, 40)}" ${NOT_TRANSLATED}`);
    onlyFields(block, known, at, NOT_TRANSLATED);
    return [block, at];
  });
}

function cacheControlOf(block: JsonObject, field: string): JsonObject | null {
  return optionalObject(block.cache_control, `${field}.cache_control`);
}

function readText(block: JsonObject, field: string): TextPart {
  if (block.type !== 'text') refuse(`${field}.type`, 'must be text');
  return {
    type: 'text',
    text: textAt(block.text, `${field}.text`),
    cacheControl: cacheControlOf(block, field),
  };
}

function readUserBlock([block, field]: Block): UserPart {
  return block.type === 'tool_result' ? readToolResult(block, field) : readContent([block, field]);
}

function readContent([block, field]: Block): TextPart | ImagePart | DocumentPart {
  const cacheControl = cacheControlOf(block, field);
  switch (block.type) {
    case 'text':
      return readText(block, field);
    case 'image':
      return { type: 'image', source: readSource(block.source, `${field}.source`), cacheControl };
    case 'document':
      if (isObject(block.citations) && block.citations.enabled === true)
        refuse(`${field}.citations`, NOT_TRANSLATED);
      return {
        type: 'document',
        source: readSource(block.source, `${field}.source`),
        title: optionalText(block.title, `${field}.title`),
        cacheControl,
      };
    default:
      return refuse(`${field}.type`, `must not be ${String(block.type)} here`);
  }
}

function readSource(value: unknown, field: string): MediaSource {
  const source = objectAt(value, field);
  switch (source.type) {
    case 'base64':
      return {
        type: 'base64',
        mediaType: nameAt(source.media_type, `${field}.media_type`),
        data: textAt(source.data, `${field}.data`),
      };
    case 'url':
      return { type: 'url', url: nameAt(source.url, `${field}.url`) };
    case 'text':
      return { type: 'text', text: textAt(source.data, `${field}.data`) };
    default:
      return refuse(`${field}.type`, 'must be base64, url or text: other sources are files at Anthropic');
  }
}

function readToolResult(block: JsonObject, field: string): ToolResultPart {
  const content = isAbsent(block.content) ? [] : blocksAt(block.content, `${field}.content`);
  return {
    type: 'tool_result',
    callId: nameAt(block.tool_use_id, `${field}.tool_use_id`),
    content: content.map(readContent),
    isError: flagAt(block.is_error, `${field}.is_error`),
    cacheControl: cacheControlOf(block, field),
  };
}

function readAssistantBlock([block, field]: Block): AssistantPart {
  switch (block.type) {
    case 'text':
      return readText(block, field);
    case 'thinking':
      return {
        type: 'thinking',
        text: textAt(block.thinking, `${field}.thinking`),
        signature: textAt(block.signature ?? '', `${field}.signature`),
      };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: textAt(block.data, `${field}.data`) };
    case 'tool_use':
      return {
        type: 'tool_call',
        id: nameAt(block.id, `${field}.id`),
        name: nameAt(block.name, `${field}.name`),
        input: objectAt(block.input, `${field}.input`),
        cacheControl: cacheControlOf(block, field),
      };
    default:
      return refuse(`${field}.type`, `must not be ${String(block.type)} in a message of the assistant`);
  }
}
