/**
 * Stored prompts as templates. A template keeps the JSON text of a body with holes in it, so that expanding is joining
 * texts: a value cannot be taken for a placeholder, and nothing is parsed or walked in a call.
 */
import { quoteValue } from '../contracts/check.ts';
import { AssayError } from '../contracts/errors.ts';
import { invalidField } from '../contracts/invalid.ts';
import {
  isObject,
  isRawNumber,
  JsonFault,
  type JsonObject,
  parseExactJson,
  scanMembers,
} from '../json/mod.ts';
import { splitText, type VariableType } from './placeholders.ts';

/** A variable of a prompt. */
export type PromptVariable = {
  readonly name: string;
  /** null: no placeholder declares a type; strings, numbers and booleans are inserted as text. */
  readonly type: VariableType | null;
  /** Where its first placeholder is, as in `messages[0].content`. */
  readonly place: string;
};

/**
 * A hole in a JSON text. `within`: it is a part of a string, so the value's text is inserted, escaped. `whole`: the string is
 * this placeholder alone, and of the type number, boolean or json, so the JSON value itself takes its place.
 */
export type Hole = { readonly variable: number; readonly kind: 'within' | 'whole' };

/** A member of a template: its value's JSON text, in parts. */
export type TemplateMember = { readonly name: string; readonly parts: readonly (string | Hole)[] };

/** A stored prompt, parsed. Immutable, and used by any number of calls. */
export type PromptTemplate = {
  readonly members: readonly TemplateMember[];
  /** Each variable once, in the order of their first placeholders. */
  readonly variables: readonly PromptVariable[];
};

/** Each variable is looked up in every call. */
const MAX_VARIABLES = 500;
/** Each is a piece of the text in every call: 90,000 of them, as many as 1 MiB holds, took 90 ms to parse. */
const MAX_PLACEHOLDERS = 10_000;
/** Each of their names is looked for in every call; real bodies have some forty at most. */
const MAX_MEMBERS = 100;
/** A body of 1 MiB can hold half a million, which take half a second to parse. */
const MAX_VALUES = 20_000;
/** Names of members of the body, which are found in a call's bytes as they are written: no quote, no backslash. */
const MEMBER_NAME = /^[ !#-[\]-~]{1,100}$/;
/** Maximum nesting: deeper than any real body, and well within the stack. */
const MAX_DEPTH = 512;
/** Characters of a place in an error sentence. */
const LONGEST_PLACE = 200;

/** Fields of a call that name its prompt. They never reach a provider, and a stored body has none, so that no prompt leads to another. */
export const PROMPT_FIELDS = ['prompt_id', 'version_id', 'environment', 'inputs'] as const;
const REFUSED: ReadonlySet<string> = new Set(PROMPT_FIELDS);

/**
 * Parses the body of a prompt. Placeholders are read in every string at any depth, but not in the names of members.
 * @param bodyText JSON of an object, as stored
 * @throws AssayError invalid_json, or invalid_body naming the place: two types for one variable, an unknown type, more than
 *   100 fields, 500 variables, 10,000 placeholders, 20,000 values or 512 levels, or no object
 */
export function parsePrompt(bodyText: string): PromptTemplate {
  checkValues(bodyText);
  let body: unknown;
  try {
    body = parseExactJson(bodyText);
  } catch (cause) {
    if (cause instanceof RangeError) throw tooDeep();
    throw new AssayError('invalid_json', 'The body of the prompt is not valid JSON', { cause });
  }
  if (!isObject(body) || isRawNumber(body))
    throw new AssayError('invalid_body', 'The body of a prompt must be a JSON object');
  const entries = Object.entries(body);
  if (entries.length > MAX_MEMBERS) {
    throw new AssayError(
      'invalid_body',
      `The body of a prompt must hold at most ${MAX_MEMBERS} fields, but holds ${entries.length}`,
    );
  }
  const reader = new TemplateReader();
  const members: TemplateMember[] = [];
  for (const [name, value] of entries) {
    if (!MEMBER_NAME.test(name))
      throw new AssayError(
        'invalid_body',
        `A field of a prompt's body must have a name of 1 to 100 ASCII characters without quote and backslash, but one is ${quoteValue(name)}`,
      );
    if (REFUSED.has(name))
      throw invalidField(name, 'belongs to the calls of a prompt, and cannot be stored in its body');
    members.push({ name, parts: reader.readMember(name, value) });
  }
  return { members, variables: reader.variables() };
}

/** Counts the values before any is made. Invalid JSON is left to the parser. */
function checkValues(bodyText: string): void {
  let values: number;
  try {
    const anyDepth = Number.POSITIVE_INFINITY;
    ({ values } = scanMembers(Buffer.from(bodyText), { names: [], maxDepth: anyDepth }));
  } catch (error) {
    if (error instanceof JsonFault) return;
    throw error;
  }
  if (values <= MAX_VALUES) return;
  throw new AssayError(
    'invalid_body',
    `The body of a prompt may hold at most ${MAX_VALUES} values, but holds ${values}`,
  );
}

function tooDeep(): AssayError {
  return new AssayError(
    'invalid_body',
    `The body of a prompt may be nested at most ${MAX_DEPTH} levels deep`,
  );
}

/** A variable while its placeholders are read: the type is that of the first placeholder that declares one. */
type FoundVariable = { name: string; type: VariableType | null; place: string; typePlace: string };
/** A hole whose kind is known only when all types are declared; `isAlone`: the placeholder is the whole string. */
type OpenHole = { variable: number; isAlone: boolean };

class TemplateReader {
  readonly #found: FoundVariable[] = [];
  readonly #indexes = new Map<string, number>();
  #placeholders = 0;
  /** Parts of all members; their holes are closed by `variables`. */
  readonly #members: { open: (string | OpenHole)[]; closed: (string | Hole)[] }[] = [];

  /** Reads a member's value. Its parts are complete when `variables` has been called. */
  readMember(name: string, value: unknown): readonly (string | Hole)[] {
    const member = { open: [], closed: [] };
    this.#members.push(member);
    this.#read(value, stepInto('', name), MAX_DEPTH, member.open);
    return member.closed;
  }

  /** Returns the variables found, and completes the parts of all members by their types. */
  variables(): readonly PromptVariable[] {
    for (const { open, closed } of this.#members) {
      for (const part of open) this.#close(part, closed);
    }
    return this.#found.map(({ name, type, place }) => ({ name, type, place }));
  }

  #close(part: string | OpenHole, closed: (string | Hole)[]): void {
    if (typeof part === 'string') {
      append(closed, part);
      return;
    }
    const { variable, isAlone } = part;
    const { type } = this.#found[variable]!;
    const isText = type === null || type === 'string';
    if (isAlone && !isText) {
      closed.push({ variable, kind: 'whole' });
      return;
    }
    if (isAlone) append(closed, '"');
    closed.push({ variable, kind: 'within' });
    if (isAlone) append(closed, '"');
  }

  #read(value: unknown, place: string, depth: number, parts: (string | OpenHole)[]): void {
    if (typeof value === 'string') this.#readString(value, place, parts);
    else if (Array.isArray(value)) this.#readArray(value, place, depth, parts);
    else if (isObject(value) && !isRawNumber(value)) this.#readObject(value, place, depth, parts);
    else append(parts, JSON.stringify(value));
  }

  #readArray(items: readonly unknown[], place: string, depth: number, parts: (string | OpenHole)[]): void {
    if (depth === 0) throw tooDeep();
    append(parts, '[');
    for (const [index, item] of items.entries()) {
      if (index > 0) append(parts, ',');
      this.#read(item, `${place}[${index}]`.slice(0, LONGEST_PLACE), depth - 1, parts);
    }
    append(parts, ']');
  }

  #readObject(value: JsonObject, place: string, depth: number, parts: (string | OpenHole)[]): void {
    if (depth === 0) throw tooDeep();
    let before = '{';
    for (const [name, item] of Object.entries(value)) {
      append(parts, `${before}${JSON.stringify(name)}:`);
      this.#read(item, stepInto(place, name), depth - 1, parts);
      before = ',';
    }
    append(parts, before === '{' ? '{}' : '}');
  }

  #readString(text: string, place: string, parts: (string | OpenHole)[]): void {
    const split = text.includes('{{') ? splitText(text, place) : [text];
    const [first] = split;
    if (split.length === 1 && first !== undefined && typeof first !== 'string') {
      parts.push({ variable: this.#variable(first, place), isAlone: true });
      return;
    }
    append(parts, '"');
    for (const part of split) {
      if (typeof part === 'string') append(parts, JSON.stringify(part).slice(1, -1));
      else parts.push({ variable: this.#variable(part, place), isAlone: false });
    }
    append(parts, '"');
  }

  /** Returns the index of a placeholder's variable. */
  #variable({ name, type }: { name: string; type: VariableType | null }, place: string): number {
    this.#placeholders += 1;
    if (this.#placeholders > MAX_PLACEHOLDERS)
      throw invalidField(
        place,
        `has the placeholder ${MAX_PLACEHOLDERS + 1}, but a prompt has at most ${MAX_PLACEHOLDERS}`,
      );
    const index = this.#indexes.get(name);
    if (index === undefined) {
      if (this.#found.length === MAX_VARIABLES)
        throw invalidField(place, `names the variable ${name}, but a prompt has at most ${MAX_VARIABLES}`);
      this.#indexes.set(name, this.#found.length);
      return this.#found.push({ name, type, place, typePlace: place }) - 1;
    }
    const known = this.#found[index]!;
    if (known.type === null && type !== null) {
      known.type = type;
      known.typePlace = place;
    } else if (type !== null && type !== known.type) {
      throw new AssayError(
        'invalid_body',
        `The variable ${name} has two types: ${known.type} in ${known.typePlace}, and ${type} in ${place}`,
      );
    }
    return index;
  }
}

/** Adds a text to parts; adjacent texts become one. */
function append(parts: (string | object)[], text: string): void {
  const last = parts.length - 1;
  const before = parts[last];
  if (typeof before === 'string') parts[last] = before + text;
  else parts.push(text);
}

function stepInto(place: string, name: string): string {
  const isPlain = /^[\w-]{1,80}$/.test(name);
  const step = isPlain ? `${place === '' ? '' : '.'}${name}` : `[${JSON.stringify(name.slice(0, 80))}]`;
  return (place + step).slice(0, LONGEST_PLACE);
}
