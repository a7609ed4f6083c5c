/** Previews: the beginnings of question and answer, which lists show instead of bodies. */
import { storableText } from '../contracts/storable-text.ts';
import { inputText, outputText, plainText, toolCallName } from './body-texts.ts';

/** Characters (code points) of a preview at most. */
export const PREVIEW_LENGTH = 200;

/**
 * UTF-16 code units of a text that are looked at, so that a text of megabytes costs no more than a short one. A text that
 * begins with a lot of white space within it has a shorter preview.
 */
const LOOKED_AT = 2_000;

/** Returns the preview of a request's body: of the last user text. Null: it has none. */
export function previewOfQuestion(body: unknown): string | null {
  return previewOf(plainText(body) ?? inputText(body));
}

/** Returns the preview of a response's body: of the assistant's text, else the names of the tools that it calls. Null: neither. */
export function previewOfAnswer(body: unknown): string | null {
  return previewOf(plainText(body) ?? outputText(body, toolCallName));
}

function previewOf(text: string | null): string | null {
  if (text === null) return null;
  const folded = startOf(text.trimStart(), LOOKED_AT).replaceAll(/\s+/g, ' ').trimEnd();
  if (folded === '') return null;
  const preview = folded.length <= PREVIEW_LENGTH ? folded : [...folded].slice(0, PREVIEW_LENGTH).join('');
  return storableText(preview).trimEnd();
}

/** Returns the first code units of a text; a surrogate pair that the cut would halve is left out. */
function startOf(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? units - 1 : units);
}
