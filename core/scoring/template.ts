/**
 * Prompts with variables. Values are inserted as JSON, in one pass: whatever an answer under test says, it stays one literal
 * among the prompt's own words, cannot name another variable, and cannot close a tag that the prompt has put around it.
 */

import { quoteValue } from '../contracts/check.ts';
import { invalidField } from '../contracts/invalid.ts';
import { foldName, storableText } from '../contracts/storable-text.ts';
import type { Scope } from '../evaluations/mod.ts';
import { storableJson } from '../json/mod.ts';
import type { Subject } from './outcome.ts';

/** Returns the value of a variable; undefined when the subject has no such value. */
type VariableLookup = (subject: Subject) => unknown;
type TemplatePart = { text: string } | { variable: string; lookup: VariableLookup };

/** A parsed prompt. */
export type PromptTemplate = {
  readonly parts: readonly TemplatePart[];
  /** The variables of the prompt, each once. */
  readonly variables: readonly string[];
};

/** A prompt with the values of one subject. */
export type RenderedPrompt = {
  text: string;
  /** True when a value was too large and lost its middle. */
  truncated: boolean;
  /** The variables that the subject has no value for. */
  missing: string[];
};

/** Bytes of UTF-8. */
const MAX_PROMPT_BYTES = 65_536;
/** Each placeholder is looked up and serialized in every evaluation. */
const MAX_PLACEHOLDERS = 100;
/** Characters of all values together: about 50,000 tokens of English, which today's judges can read. */
const DEFAULT_MAX_VALUE_CHARACTERS = 200_000;
/**
 * Values of a prompt may be parts of each other, such as `request.messages` and `request.messages.0`. A hundred that each hold
 * most of a large body took 5 s of a thread, to keep 2,000 characters of each.
 */
const MAX_WRITTEN_CHARACTERS = 32 * 1024 * 1024;
const ALLOWED = [
  '{{input}}',
  '{{output}}',
  '{{inputs.<name>}}',
  '{{request.<path>}}',
  '{{response.<path>}}',
  '{{properties.<name>}}',
  '{{expected}}',
  '{{expected.<path>}}',
];
const ALLOWED_IN: Record<Scope, string> = {
  request: ALLOWED.join(', '),
  session: ['{{conversation}}', '{{session.<path>}}', ...ALLOWED].join(', '),
};

/**
 * Parses a prompt. A prompt without variables gets input and output appended, or for a session its conversation, so that "Is
 * this answer polite?" works.
 * @throws AssayError invalid_body, with a sentence that begins with `prompt`
 */
export function parseTemplate(prompt: string, scope: Scope = 'request'): PromptTemplate {
  if (prompt.trim() === '') throw invalidField('prompt', 'must not be empty');
  const bytes = Buffer.byteLength(prompt);
  if (bytes > MAX_PROMPT_BYTES) {
    throw invalidField('prompt', `must have at most ${MAX_PROMPT_BYTES} bytes as UTF-8, but has ${bytes}`);
  }
  const parts = readParts(storableText(prompt), scope);
  const variables = parts.flatMap((part) => ('variable' in part ? [part.variable] : []));
  if (variables.length > MAX_PLACEHOLDERS) {
    throw invalidField(
      'prompt',
      `must hold at most ${MAX_PLACEHOLDERS} variables, but holds ${variables.length}`,
    );
  }
  if (variables.length === 0) return appendData(storableText(prompt), scope);
  return { parts, variables: [...new Set(variables)] };
}

function readParts(prompt: string, scope: Scope): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  for (;;) {
    const open = prompt.indexOf('{{', at);
    if (open === -1) break;
    const close = prompt.indexOf('}}', open + 2);
    if (close === -1) {
      throw invalidField(
        'prompt',
        `has "{{" without "}}" at character ${open + 1}: ${quoteValue(prompt.slice(open, open + 40))}`,
      );
    }
    if (open > at) parts.push({ text: prompt.slice(at, open) });
    parts.push(readVariable(prompt.slice(open + 2, close).trim(), scope));
    at = close + 2;
  }
  if (at < prompt.length) parts.push({ text: prompt.slice(at) });
  return parts;
}

function appendData(prompt: string, scope: Scope): PromptTemplate {
  if (scope === 'session') {
    return {
      parts: [
        { text: `${prompt.trimEnd()}\n\nConversation to evaluate:\n` },
        readVariable('conversation', scope),
        { text: '\n' },
      ],
      variables: ['conversation'],
    };
  }
  return {
    parts: [
      { text: `${prompt.trimEnd()}\n\nInput:\n` },
      readVariable('input', scope),
      { text: '\n\nOutput to evaluate:\n' },
      readVariable('output', scope),
      { text: '\n' },
    ],
    variables: ['input', 'output'],
  };
}

const ROOTS = /^(inputs|request|response|properties|expected)\.([^{}]+)$/;
const SESSION_ROOTS = /^(inputs|request|response|properties|expected|session)\.([^{}]+)$/;

function readVariable(variable: string, scope: Scope): TemplatePart {
  if (variable === 'input') return { variable, lookup: (subject) => subject.input };
  if (variable === 'output') return { variable, lookup: (subject) => subject.output };
  if (variable === 'expected') return { variable, lookup: (subject) => subject.expected };
  if (scope === 'session' && variable === 'conversation')
    return { variable, lookup: ({ session }) => session?.conversation };
  const roots = scope === 'session' ? SESSION_ROOTS : ROOTS;
  const [, root, rest = ''] = roots.exec(variable) ?? [];
  if (root === 'properties') {
    const name = foldName(rest);
    return { variable, lookup: ({ properties }) => ownMember(properties, name) };
  }
  // The name of an input may contain dots; in paths, dots separate the steps.
  const steps = rest.split('.');
  if (root === undefined || (root !== 'inputs' && steps.includes(''))) {
    throw invalidField(
      'prompt',
      `names the unknown variable ${quoteValue(`{{${variable}}}`)}; allowed are ${ALLOWED_IN[scope]}`,
    );
  }
  if (root === 'inputs') {
    return { variable, lookup: ({ inputs }) => ownMember(inputs, rest) ?? follow(inputs, steps) };
  }
  const whole = root as 'request' | 'response' | 'expected' | 'session';
  return { variable, lookup: (subject) => follow(subject[whole], steps) };
}

function follow(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(ownMember, value);
}

/** Returns a member of an object, or an item of an array by its index. */
function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value) && !/^(?:0|[1-9]\d{0,8})$/.test(name)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/**
 * Renders the prompt for a subject. A value that the subject does not have is written as `null` and reported as missing; a
 * value that is null in the record is not missing. Once the values are 32 Mi characters long, further objects and lists are
 * left out.
 * @param maxValueCharacters limit of all values together; the largest values lose their middle
 */
export function renderTemplate(
  template: PromptTemplate,
  subject: Subject,
  maxValueCharacters: number = DEFAULT_MAX_VALUE_CHARACTERS,
): RenderedPrompt {
  const { values, lengths, missing, isLeftOut } = readValues(template, subject);
  const share = fairShare(lengths, maxValueCharacters);
  let truncated = isLeftOut;
  const written = new Map<string, string>();
  const write = (variable: string): string => {
    const value = values.get(variable) ?? 'null';
    if (lengthOf(value) > share) truncated = true;
    return lengthOf(value) > share ? cutMiddle(value, share) : typeof value === 'string' ? value : value.json;
  };
  const texts = template.parts.map((part) => {
    if (!('variable' in part)) return part.text;
    const text = written.get(part.variable) ?? write(part.variable);
    written.set(part.variable, text);
    return text;
  });
  return { text: texts.join(''), truncated, missing: [...missing] };
}

type ReadValues = {
  values: Map<string, string | LongText>;
  /** The length of each placeholder's value. */
  lengths: number[];
  missing: Set<string>;
  /** True when at least one value is left out. */
  isLeftOut: boolean;
};

const LEFT_OUT = encode('[… left out here: the values before this one are too large …]');

function readValues({ parts }: PromptTemplate, subject: Subject): ReadValues {
  const read: ReadValues = { values: new Map(), lengths: [], missing: new Set(), isLeftOut: false };
  let charactersWritten = 0;
  for (const part of parts) {
    if (!('variable' in part)) continue;
    const { variable, lookup } = part;
    let value = read.values.get(variable);
    if (value === undefined) {
      const found = lookup(subject);
      if (found === undefined) read.missing.add(variable);
      const hasRoom = charactersWritten <= MAX_WRITTEN_CHARACTERS || !isContainer(found);
      if (!hasRoom) read.isLeftOut = true;
      value = hasRoom ? encodeValue(found) : LEFT_OUT;
      charactersWritten += lengthOf(value);
      read.values.set(variable, value);
    }
    read.lengths.push(lengthOf(value));
  }
  return read;
}

/** A text with its JSON. A value that is too long is cut as text and encoded again, so that the rest is valid JSON. */
type LongText = { text: string; json: string };

function lengthOf(value: string | LongText): number {
  return typeof value === 'string' ? value.length : value.json.length;
}

/** An object or list, whose parts other variables may name as well. */
function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function encodeValue(value: unknown): string | LongText {
  if (value === undefined) return 'null';
  if (typeof value === 'string') {
    const text = storableText(value);
    return { text, json: encode(text) };
  }
  return jsonAsData(value);
}

/** Writes a value as JSON for a prompt, as the values of variables are written. */
export function jsonAsData(value: unknown): string {
  return escapeMarks(storableJson(value).text);
}

function encode(text: string): string {
  return escapeMarks(JSON.stringify(text));
}

/** Escapes `</`, which would close a tag of the prompt, and two separators that some readers take as line ends. The JSON value stays the same. */
function escapeMarks(json: string): string {
  return json.replaceAll('</', '<\\/').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Returns the maximum length of a value at which small values stay whole and large values share the rest equally. */
function fairShare(lengths: readonly number[], total: number): number {
  const ascending = lengths.toSorted((a, b) => a - b);
  let left = total;
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

/** Writes the beginning and the end of a value as a JSON string of at most about `share` characters. JSON values are cut as text. */
function cutMiddle(value: string | LongText, share: number): string {
  const text = typeof value === 'string' ? value : value.text;
  for (let kept = Math.min(share, text.length - 1); kept > 1; kept = Math.floor(kept / 2)) {
    const head = text.slice(0, Math.ceil(kept / 2));
    const tail = text.slice(text.length - Math.floor(kept / 2));
    const left = text.length - head.length - tail.length;
    const json = encode(`${head}\n[… ${left} characters left out here …]\n${tail}`.toWellFormed());
    // Escaped characters take up to six times their length in JSON.
    if (json.length <= share + MARKER_CHARACTERS) return json;
  }
  return encode(`[… ${text.length} characters left out here …]`);
}

const MARKER_CHARACTERS = 64;
