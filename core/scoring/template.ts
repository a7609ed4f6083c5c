/**
 * Prompts with variables. Values go in as JSON, in one pass: whatever an answer under test says, it stays one literal
 * among the prompt's own words, cannot name another variable, and cannot close a tag that the prompt has put around it.
 */

import { quoteValue } from '../contracts/check.ts';
import { invalidField } from '../contracts/invalid.ts';
import { foldName, storableText } from '../contracts/storable-text.ts';
import { storableJson } from '../json/mod.ts';
import type { Subject } from './outcome.ts';

/** What a variable means: a function of the subject; undefined where the subject has no such value. */
type Lookup = (subject: Subject) => unknown;
type Part = { text: string } | { variable: string; lookup: Lookup };

/** A prompt, parsed. */
export type Template = {
  readonly parts: readonly Part[];
  /** The variables that it names, each once. */
  readonly variables: readonly string[];
};

export type Rendered = {
  text: string;
  /** Some value was too large, and stands there without its middle. */
  truncated: boolean;
  /** The variables that the subject has no value for. */
  missing: string[];
};

/** In bytes of UTF-8. */
export const MAX_PROMPT_BYTES = 65_536;
/** Each is looked up and written out for every evaluation. */
const MAX_PLACEHOLDERS = 100;
/** Characters of all values together: some 50,000 tokens of English, which today's judges can read. */
const DEFAULT_MAX_VALUE_CHARACTERS = 200_000;
const ALLOWED = [
  '{{input}}',
  '{{output}}',
  '{{inputs.<name>}}',
  '{{request.<path>}}',
  '{{response.<path>}}',
  '{{properties.<name>}}',
].join(', ');

/**
 * Parses a prompt. One that names no variable gets input and output appended, so that "Is this answer polite?" works.
 * @throws AssayError invalid_body, with a sentence that begins with `prompt`
 */
export function parseTemplate(prompt: string): Template {
  if (prompt.trim() === '') throw invalidField('prompt', 'must not be empty');
  const bytes = Buffer.byteLength(prompt);
  if (bytes > MAX_PROMPT_BYTES) {
    throw invalidField('prompt', `must have at most ${MAX_PROMPT_BYTES} bytes as UTF-8, but has ${bytes}`);
  }
  const parts = readParts(storableText(prompt));
  const variables = parts.flatMap((part) => ('variable' in part ? [part.variable] : []));
  if (variables.length > MAX_PLACEHOLDERS) {
    throw invalidField(
      'prompt',
      `must hold at most ${MAX_PLACEHOLDERS} variables, but holds ${variables.length}`,
    );
  }
  if (variables.length === 0) return appendData(storableText(prompt));
  return { parts, variables: [...new Set(variables)] };
}

function readParts(prompt: string): Part[] {
  const parts: Part[] = [];
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
    parts.push(readVariable(prompt.slice(open + 2, close).trim()));
    at = close + 2;
  }
  if (at < prompt.length) parts.push({ text: prompt.slice(at) });
  return parts;
}

function appendData(prompt: string): Template {
  return {
    parts: [
      { text: `${prompt.trimEnd()}\n\nInput:\n` },
      readVariable('input'),
      { text: '\n\nOutput to evaluate:\n' },
      readVariable('output'),
      { text: '\n' },
    ],
    variables: ['input', 'output'],
  };
}

function readVariable(variable: string): Part {
  if (variable === 'input') return { variable, lookup: (subject) => subject.input };
  if (variable === 'output') return { variable, lookup: (subject) => subject.output };
  const [, root, rest = ''] = /^(inputs|request|response|properties)\.([^{}]+)$/.exec(variable) ?? [];
  if (root === 'properties') {
    const name = foldName(rest);
    return { variable, lookup: ({ properties }) => ownMember(properties, name) };
  }
  // Names of inputs may have dots in them; steps of a path are what lies between dots.
  const steps = rest.split('.');
  if (root === undefined || (root !== 'inputs' && steps.includes(''))) {
    throw invalidField(
      'prompt',
      `names the unknown variable ${quoteValue(`{{${variable}}}`)}; allowed are ${ALLOWED}`,
    );
  }
  if (root === 'inputs') {
    return { variable, lookup: ({ inputs }) => ownMember(inputs, rest) ?? follow(inputs, steps) };
  }
  const body = root === 'request' ? 'request' : 'response';
  return { variable, lookup: (subject) => follow(subject[body], steps) };
}

function follow(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(ownMember, value);
}

/** A member of an object, or an item of an array by its index. */
function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value) && !/^(?:0|[1-9]\d{0,8})$/.test(name)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/**
 * Writes the prompt for a subject. Values that the subject does not have are `null`, and told as missing: one that is
 * null in the record itself is not.
 * @param maxValueCharacters what all values may take together; the largest ones are cut in their middle
 */
export function renderTemplate(
  template: Template,
  subject: Subject,
  maxValueCharacters: number = DEFAULT_MAX_VALUE_CHARACTERS,
): Rendered {
  const values = new Map<string, string | Long>();
  const lengths: number[] = [];
  const missing = new Set<string>();
  for (const part of template.parts) {
    if (!('variable' in part)) continue;
    const found = part.lookup(subject);
    if (found === undefined) missing.add(part.variable);
    const value = values.get(part.variable) ?? encodeValue(found);
    values.set(part.variable, value);
    lengths.push(lengthOf(value));
  }
  const share = fairShare(lengths, maxValueCharacters);
  let truncated = false;
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

/** A text with its JSON: what is cut is the text, so that what remains is JSON again. */
type Long = { text: string; json: string };

function lengthOf(value: string | Long): number {
  return typeof value === 'string' ? value.length : value.json.length;
}

function encodeValue(value: unknown): string | Long {
  if (value === undefined) return 'null';
  if (typeof value === 'string') {
    const text = storableText(value);
    return { text, json: encode(text) };
  }
  return escapeMarks(storableJson(value).text);
}

function encode(text: string): string {
  return escapeMarks(JSON.stringify(text));
}

/**
 * Still the same JSON value. `</` would close a tag of the prompt's; the two separators end a line for some readers.
 */
function escapeMarks(json: string): string {
  return json.replaceAll('</', '<\\/').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** How long each value may be, so that small ones stay whole and the large ones get equal parts of what is left. */
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

/** The beginning and the end of a value as a JSON string of about `share` characters at most; JSON is cut as text. */
function cutMiddle(value: string | Long, share: number): string {
  const text = typeof value === 'string' ? value : value.text;
  for (let kept = Math.min(share, text.length - 1); kept > 1; kept = Math.floor(kept / 2)) {
    const head = text.slice(0, Math.ceil(kept / 2));
    const tail = text.slice(text.length - Math.floor(kept / 2));
    const left = text.length - head.length - tail.length;
    const json = encode(`${head}\n[… ${left} characters left out here …]\n${tail}`.toWellFormed());
    // Characters that JSON escapes take up to six times their length.
    if (json.length <= share + MARKER_CHARACTERS) return json;
  }
  return encode(`[… ${text.length} characters left out here …]`);
}

const MARKER_CHARACTERS = 64;
