/** Finds the placeholders of a text: `{{name}}`, `{{name:type}}`, and `{{hc:name:type}}`, which means the same. */
import { invalidField } from '../contracts/invalid.ts';

/** The types that a placeholder may declare. */
export const VARIABLE_TYPES = ['string', 'number', 'boolean', 'json'] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/** A placeholder as written. `type` is null where it declares none. */
export type Placeholder = { name: string; type: VariableType | null };

/**
 * Every repetition is bounded, so that a text full of braces and spaces takes linear time. Other texts between braces, such as
 * `{{#if}}` or `{{ "a": 1 }}`, are no placeholders and stay as they are.
 */
const PLACEHOLDER =
  /\{\{\s{0,20}(?:hc\s{0,20}:\s{0,20})?([\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,127})\s{0,20}(?::\s{0,20}([\p{L}\p{N}_]{1,40})\s{0,20})?\}\}/gu;

/**
 * Splits a text into literals and placeholders, in order; literals are not empty.
 * @param place where the text is, for errors, as in `messages[0].content`
 * @throws AssayError invalid_body when a placeholder declares an unknown type
 */
export function splitText(text: string, place: string): (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let at = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, name = '', type] = match;
    if (match.index > at) parts.push(text.slice(at, match.index));
    if (type !== undefined && !isVariableType(type)) {
      throw invalidField(
        place,
        `declares the variable ${name} with the type "${type}"; types are ${VARIABLE_TYPES.join(', ')}`,
      );
    }
    parts.push({ name, type: type ?? null });
    at = match.index + whole.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

function isVariableType(type: string): type is VariableType {
  return (VARIABLE_TYPES as readonly string[]).includes(type);
}
