/** What the playground holds: messages that columns share or have of their own, and a model with parameters a column. Pure. */
import type { PlaygroundBody } from '#core/contracts/playground.ts';
import { isObject, type JsonObject, parseExactJson } from '#core/json-values/mod.ts';
import {
  type Dialect,
  type DraftMessage,
  MESSAGE_MEMBERS,
  newMessage,
  parseField,
  pretty,
  readMessages,
  writeMessages,
} from '../../parts/draft/messages.ts';

/** Columns side by side. */
export const MOST_COLUMNS = 4;
/** UTF-16 code units of a body that can be edited. */
const LONGEST_BODY = 8 * 1024 * 1024;

export type Path = NonNullable<PlaygroundBody['path']>;
export const PATHS: Readonly<Record<Dialect, Path>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** Messages, and definitions of tools as JSON; empty: none. */
export type Talk = { messages: readonly DraftMessage[]; tools: string };

export type ParameterName = 'temperature' | 'maxTokens' | 'topP' | 'seed' | 'responseFormat';

/** A version of a stored prompt, whose messages come before those of the page. */
export type PromptChoice = {
  promptId: string;
  /** Empty: not chosen yet. */
  versionId: string;
  /** By variable, as they are typed. */
  inputs: Readonly<Record<string, string>>;
};

export type Column = {
  key: string;
  model: string;
  /** As they are typed; empty: not sent. */
  parameters: Readonly<Record<ParameterName, string>>;
  /** The member that holds the limit of tokens. */
  maxTokensName: string;
  /** JSON of an object: all other members. Empty: none. */
  others: string;
  prompt: PromptChoice | null;
  /** Null: the shared ones. */
  own: Talk | null;
};

export type Draft = { dialect: Dialect; from: string | null; talk: Talk; columns: readonly Column[] };

const NO_PARAMETERS: Column['parameters'] = {
  temperature: '',
  maxTokens: '',
  topP: '',
  seed: '',
  responseFormat: '',
};

/** Parameters with a field of their own, with the members that hold them. */
export const PARAMETERS: Readonly<Record<Dialect, readonly (readonly [ParameterName, readonly string[]])[]>> =
  {
    chat: [
      ['temperature', ['temperature']],
      ['maxTokens', ['max_completion_tokens', 'max_tokens']],
      ['topP', ['top_p']],
      ['seed', ['seed']],
      ['responseFormat', ['response_format']],
    ],
    messages: [
      ['temperature', ['temperature']],
      ['maxTokens', ['max_tokens']],
      ['topP', ['top_p']],
    ],
    responses: [
      ['temperature', ['temperature']],
      ['maxTokens', ['max_output_tokens']],
      ['topP', ['top_p']],
    ],
  };

export const LABELS: Readonly<Record<ParameterName, string>> = {
  temperature: 'Temperature',
  maxTokens: 'Max tokens',
  topP: 'Top p',
  seed: 'Seed',
  responseFormat: 'Response format (JSON)',
};

/** Members that the page sets itself. */
const SET_HERE = new Set([
  'model',
  'stream',
  'stream_options',
  'tools',
  'prompt_id',
  'version_id',
  'environment',
  'inputs',
]);

let columnsMade = 0;

/**
 * Returns a column that has nothing but a model.
 * @internal exported for tests: they begin with less than a record
 */
export function newColumn(dialect: Dialect, model = ''): Column {
  columnsMade += 1;
  const maxTokensName = PARAMETERS[dialect].find(([name]) => name === 'maxTokens')![1][0]!;
  return {
    key: `${Date.now().toString(36)}-${columnsMade}`,
    model,
    parameters: NO_PARAMETERS,
    maxTokensName,
    others: '',
    prompt: null,
    own: null,
  };
}

/** Returns a column like another one, for another model. */
export function copyColumn(dialect: Dialect, column: Column, model = ''): Column {
  return { ...column, key: newColumn(dialect).key, model };
}

/** Returns what the page begins with when no request is replayed. */
export function emptyDraft(): Draft {
  return {
    dialect: 'chat',
    from: null,
    talk: { messages: [newMessage('user')], tools: '' },
    columns: [newColumn('chat')],
  };
}

/** Reads the dialect of a path; null: it is none that the playground calls. */
function dialectOfPath(path: string): Dialect | null {
  const found = Object.entries(PATHS).find(([, known]) => known === path);
  return found === undefined ? null : (found[0] as Dialect);
}

function readColumn(dialect: Dialect, body: JsonObject): Column {
  const column = newColumn(dialect, typeof body.model === 'string' ? body.model : '');
  const parameters = { ...column.parameters };
  const taken = new Set([...SET_HERE, ...MESSAGE_MEMBERS[dialect]]);
  let { maxTokensName } = column;
  for (const [name, members] of PARAMETERS[dialect]) {
    const member = members.find((one) => body[one] !== undefined && body[one] !== null);
    if (member === undefined) continue;
    taken.add(member);
    parameters[name] = name === 'responseFormat' ? pretty(body[member]) : JSON.stringify(body[member]);
    if (name === 'maxTokens') maxTokensName = member;
  }
  const others = Object.entries(body).filter(([name]) => !taken.has(name));
  return {
    ...column,
    parameters,
    maxTokensName,
    others: others.length === 0 ? '' : pretty(Object.fromEntries(others)),
  };
}

/**
 * Reads a logged request.
 * @param text JSON of its body; null: it is too long
 * @throws Error that says why it cannot be replayed
 */
export function readDraft(from: string, path: string, text: string | null): Draft {
  const dialect = dialectOfPath(path);
  if (dialect === null)
    throw new Error(
      `Calls of ${path} cannot be replayed here: only chat completions, Messages and Responses`,
    );
  if (text === null || text.length > LONGEST_BODY)
    throw new Error('The body of the request is too long for the playground');
  const body = parseExactJson(text);
  if (!isObject(body) || Object.keys(body).length === 0)
    throw new Error('The body of the request was not logged, so that it cannot be replayed');
  const tools = Array.isArray(body.tools) && body.tools.length > 0 ? pretty(body.tools) : '';
  return {
    dialect,
    from,
    talk: { messages: readMessages(dialect, body), tools },
    columns: [readColumn(dialect, body)],
  };
}

function writeParameters(column: Column, dialect: Dialect): JsonObject {
  const written = PARAMETERS[dialect].flatMap(([name, members]) => {
    const text = column.parameters[name].trim();
    if (text === '') return [];
    const member = name === 'maxTokens' ? column.maxTokensName : members[0]!;
    const value = parseField(
      text,
      `${LABELS[name]} must be ${name === 'responseFormat' ? 'JSON' : 'a number'}`,
    );
    return [[member, value] as const];
  });
  return Object.fromEntries(written);
}

function parseObject(text: string, what: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseField(text, `${what} must be a JSON object`);
  if (!isObject(value)) throw new Error(`${what} must be a JSON object`);
  return value;
}

function parseTools(text: string): JsonObject {
  if (text.trim() === '') return {};
  const tools = parseField(text, 'Tools must be a JSON array');
  if (!Array.isArray(tools)) throw new Error('Tools must be a JSON array');
  return { tools };
}

/**
 * Returns the body of a column, without what belongs to one call alone: the stream and the stored prompt.
 * @throws Error that names the field which is not valid
 */
export function writeBody({ dialect, talk: shared }: Draft, column: Column): JsonObject {
  const talk = column.own ?? shared;
  const model = column.model.trim();
  return {
    ...(model === '' ? {} : { model }),
    ...writeMessages(dialect, talk.messages),
    ...parseTools(talk.tools),
    ...writeParameters(column, dialect),
    ...parseObject(column.others, 'Other parameters'),
  };
}
