/** Fills the holes of a template with the inputs of a call. */
import { quoteValue } from '../contracts/check.ts';
import { AssayError } from '../contracts/errors.ts';
import { isObject, isRawNumber, type JsonObject } from '../json/mod.ts';
import type { PromptTemplate, PromptVariable } from './template.ts';

/** The members of an expanded body: the JSON text of each, by name, in the order they were stored. */
export type ExpandedMembers = ReadonlyMap<string, string>;

/** Problems that a sentence names; a prompt may have 500 variables. */
const MAX_NAMED = 10;

/**
 * Expands a template in one pass: values are inserted as data, and placeholders in them are not expanded again. Inputs that
 * the template has no variable for are ignored.
 * @param inputs by name, as JSON values; numbers may be those of `parseExactJson`
 * @param maxBytes the largest expansion, compared with its length in UTF-16: its bytes as UTF-8 are at least as many
 * @throws AssayError invalid_body naming every variable that is missing or of the wrong type, with its place; body_too_large
 */
export function expandPrompt(
  { members, variables }: PromptTemplate,
  inputs: JsonObject,
  maxBytes: number,
): ExpandedMembers {
  const values = readValues(variables, inputs);
  const expanded = new Map<string, string>();
  let left = maxBytes;
  for (const { name, parts } of members) {
    let json = '';
    for (const part of parts) {
      const text = typeof part === 'string' ? part : textOf(values[part.variable]!, part.kind);
      // Counted before it is added: 500 mentions of a value of a megabyte are refused, and not built.
      left -= text.length;
      if (left < 0) throw tooLarge(maxBytes);
      json += text;
    }
    expanded.set(name, json);
  }
  return expanded;
}

function tooLarge(maxBytes: number): AssayError {
  return new AssayError(
    'body_too_large',
    `The stored prompt with these inputs is larger than the ${maxBytes} bytes allowed`,
  );
}

/** A value with the texts that are inserted for it, each made when it is first needed. */
type Value = {
  readonly value: unknown;
  readonly isJson: boolean;
  within: string | null;
  whole: string | null;
};

function textOf(value: Value, kind: 'within' | 'whole'): string {
  if (kind === 'whole') {
    value.whole ??= JSON.stringify(value.value);
    return value.whole;
  }
  const { value: inserted, isJson } = value;
  const isText = typeof inserted === 'string' && !isJson;
  value.within ??= JSON.stringify(isText ? inserted : JSON.stringify(inserted)).slice(1, -1);
  return value.within;
}

function readValues(variables: readonly PromptVariable[], inputs: JsonObject): Value[] {
  const problems: string[] = [];
  const values: Value[] = [];
  for (const variable of variables) {
    const value = Object.hasOwn(inputs, variable.name) ? inputs[variable.name] : undefined;
    if (!isOfType(value, variable)) problems.push(problemOf(value, variable));
    values.push({ value, isJson: variable.type === 'json', within: null, whole: null });
  }
  if (problems.length > 0) throw new AssayError('invalid_body', sentenceOf(problems));
  return values;
}

function isOfType(value: unknown, { type }: PromptVariable): boolean {
  switch (type) {
    case 'json':
      return value !== undefined;
    case 'number':
      return isNumber(value);
    case null:
      return typeof value === 'string' || typeof value === 'boolean' || isNumber(value);
    default:
      return typeof value === type;
  }
}

function isNumber(value: unknown): boolean {
  // JSON.parse reads 1e999 as infinity, which JSON cannot write.
  return Number.isFinite(value) || (isObject(value) && isRawNumber(value));
}

const RULES = {
  string: 'must be a string',
  number: 'must be a number',
  boolean: 'must be true or false',
  none: 'must be a string, a number or a boolean',
} as const;

function problemOf(value: unknown, { name, type, place }: PromptVariable): string {
  if (value === undefined) return `inputs.${name} is missing (used in ${place})`;
  const rule = RULES[type === null || type === 'json' ? 'none' : type];
  return `inputs.${name} ${rule}, but is ${quoteValue(value)} (used in ${place})`;
}

function sentenceOf(problems: readonly string[]): string {
  const named = problems.slice(0, MAX_NAMED).join('; ');
  const more = problems.length - MAX_NAMED;
  return more > 0 ? `${named}; and ${more} more variables are missing or have the wrong type` : named;
}
