/** Previews: the beginnings of question and answer, which lists show instead of bodies. */
import { storableText } from '../contracts/storable-text.ts';
import { inputText, outputText, plainText, toolCallName } from './body-texts.ts';

/** Maximum characters (code points) of a preview. */
export const PREVIEW_LENGTH = 200;

/**
 * UTF-16 code units of a text that are examined, so that a text of megabytes costs no more than a short one. Much white space
 * among them makes the preview shorter.
 */
const LOOKED_AT = 1_000;
/** White space that is not one space alone. Spelled out: the class that excludes a space takes twice as long. */
const ODD_SPACE = /[\t-\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]\s*| \s+/g;
const PREVIEW = new RegExp(`^[^]{0,${PREVIEW_LENGTH}}`, 'u');

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
  const [preview = ''] = PREVIEW.exec(beginningOf(text.trimStart()).replace(ODD_SPACE, ' ')) ?? [];
  return storableText(preview.trimEnd()) || null;
}

/** Returns the examined beginning of a text, without half of a surrogate pair. */
function beginningOf(text: string): string {
  const end = isHighSurrogate(text.charCodeAt(LOOKED_AT - 1)) ? LOOKED_AT - 1 : LOOKED_AT;
  return text.length <= LOOKED_AT ? text : text.slice(0, end);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
