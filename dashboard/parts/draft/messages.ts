/** Messages of a call as they are edited, in the three dialects, and back. What is not edited stays as it was. Pure. */
import { isObject, isRawNumber, type JsonObject, parseExactJson } from '#core/json-values/mod.ts';

export type Dialect = 'chat' | 'messages' | 'responses';

export type DraftPart =
  /** `shell`: the other members of a content part; null: the content is the text itself. */
  | { kind: 'text'; text: string; shell: JsonObject | null }
  /** JSON of a tool's call, of its result, or of a part that the page does not know. */
  | { kind: 'json'; text: string }
  /** Images, audio and files, which are sent as they are. */
  | { kind: 'kept'; label: string; value: unknown };

export type DraftMessage = {
  key: string;
  /** Empty: an item of Responses that has none, such as a tool's call. `instructions`: those beside the items. */
  role: string;
  parts: readonly DraftPart[];
  /** JSON of an object: members beside role and content, such as tool_calls. Empty: none. */
  others: string;
};

/** Roles that a message may get. In Messages, `system` stands beside the messages. */
export const ROLES: Readonly<Record<Dialect, readonly string[]>> = {
  chat: ['system', 'developer', 'user', 'assistant', 'tool'],
  messages: ['system', 'user', 'assistant'],
  responses: ['instructions', 'system', 'developer', 'user', 'assistant'],
};

const KEPT = /image|audio|file|document|video/;
let keys = 0;

function newKey(): string {
  keys += 1;
  return `${Date.now().toString(36)}.${keys}`;
}

/** Returns a message with a text. */
export function newMessage(role: string, text = ''): DraftMessage {
  return { key: newKey(), role, parts: [{ kind: 'text', text, shell: null }], others: '' };
}

/** Returns JSON on several lines. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function sizeOf(value: unknown): string {
  const kibibytes = Math.ceil(JSON.stringify(value).length / 1024);
  return `${kibibytes} KiB`;
}

function readPart(part: unknown): DraftPart {
  if (!isObject(part) || isRawNumber(part)) return { kind: 'json', text: pretty(part) };
  const { text, ...shell } = part;
  if (typeof text === 'string' && /^(?:text|input_text|output_text)$/.test(String(part.type ?? 'text')))
    return { kind: 'text', text, shell };
  const type = String(part.type);
  if (KEPT.test(type)) return { kind: 'kept', label: `${type}, ${sizeOf(part)}`, value: part };
  return { kind: 'json', text: pretty(part) };
}

function readContent(content: unknown): DraftPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, shell: null }];
  return Array.isArray(content) ? (content as unknown[]).map(readPart) : [readPart(content)];
}

function readMessage(value: unknown): DraftMessage {
  if (typeof value === 'string') return newMessage('user', value);
  if (!isObject(value) || typeof value.role !== 'string')
    return { key: newKey(), role: '', parts: [], others: pretty(value) };
  const { role, content, ...rest } = value;
  const isEmpty = Object.keys(rest).length === 0;
  return { key: newKey(), role, parts: readContent(content), others: isEmpty ? '' : pretty(rest) };
}

const beside = (role: string, content: unknown): DraftMessage[] =>
  content === undefined || content === null
    ? []
    : [{ key: newKey(), role, parts: readContent(content), others: '' }];

/** Members of a body that hold its messages. */
export const MESSAGE_MEMBERS: Readonly<Record<Dialect, readonly string[]>> = {
  chat: ['messages'],
  messages: ['system', 'messages'],
  responses: ['instructions', 'input'],
};

/** Reads the messages of a body. */
export function readMessages(dialect: Dialect, body: JsonObject): DraftMessage[] {
  const list = (value: unknown): DraftMessage[] => {
    if (value === undefined || value === null) return [];
    return (Array.isArray(value) ? (value as unknown[]) : [value]).map(readMessage);
  };
  if (dialect === 'responses') return [...beside('instructions', body.instructions), ...list(body.input)];
  const system = dialect === 'messages' ? beside('system', body.system) : [];
  return [...system, ...list(body.messages)];
}

/** Reads JSON that somebody wrote. @throws Error that says where it was */
export function parseField(text: string, what: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function writePart(part: DraftPart, what: string): unknown {
  if (part.kind === 'kept') return part.value;
  if (part.kind === 'json') return parseField(part.text, `${what} is not valid JSON`);
  return { type: 'text', ...part.shell, text: part.text };
}

function writeContent(parts: readonly DraftPart[], what: string): unknown {
  const [first] = parts;
  if (first === undefined) return null;
  if (parts.length === 1 && first.kind === 'text' && first.shell === null) return first.text;
  return parts.map((part) => writePart(part, what));
}

function writeMessage({ role, parts, others }: DraftMessage, index: number): unknown {
  const what = `Message ${index + 1}`;
  const rest = others.trim() === '' ? {} : parseField(others, `${what} is not valid JSON`);
  if (role === '') return rest;
  return { role, content: writeContent(parts, what), ...Object(rest) };
}

/** Joins what stands beside the messages: one text stays a text. */
function writeBeside(messages: readonly DraftMessage[], isList: boolean): unknown {
  const parts = messages.flatMap((one) => one.parts);
  if (parts.length === 0) return undefined;
  const texts = parts.map((part) =>
    part.kind === 'text' ? part.text : part.kind === 'json' ? part.text : '',
  );
  const isPlain = parts.every((part) => part.kind === 'text' && part.shell === null);
  return isPlain || !isList ? texts.join('\n\n') : parts.map((part) => writePart(part, 'The system prompt'));
}

/**
 * Returns the members of a body that hold these messages.
 * @throws Error that names the message whose JSON is not valid
 */
export function writeMessages(dialect: Dialect, messages: readonly DraftMessage[]): JsonObject {
  const apart = dialect === 'messages' ? 'system' : dialect === 'responses' ? 'instructions' : null;
  const said = messages.filter(({ role }) => apart === null || role !== apart).map(writeMessage);
  if (apart === null) return { messages: said };
  const first = writeBeside(
    messages.filter(({ role }) => role === apart),
    dialect === 'messages',
  );
  const list = dialect === 'responses' ? { input: said } : { messages: said };
  return first === undefined ? list : { [apart]: first, ...list };
}
