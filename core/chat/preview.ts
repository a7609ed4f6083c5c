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
/** Reminders that coding agents such as Claude Code write before the words of their user: the same thousands of characters in each call. */
const REMINDER = { begin: '<system-reminder>', end: '</system-reminder>', most: 100 };
const PREVIEW = new RegExp(`^[^]{0,${PREVIEW_LENGTH}}`, 'u');

/** Returns the preview of a request's body: of the last user text, behind its reminders. Null: it has none. */
export function previewOfQuestion(body: unknown): string | null {
  const text = plainText(body) ?? inputText(body);
  return previewOf(text === null ? null : afterReminders(text));
}

/** Returns the text behind the reminders at its beginning; all of it when there is nothing else. */
function afterReminders(text: string): string {
  let rest = text.trimStart();
  for (let count = 0; count < REMINDER.most && rest.startsWith(REMINDER.begin); count += 1) {
    const end = rest.indexOf(REMINDER.end);
    if (end === -1) break;
    rest = rest.slice(end + REMINDER.end.length).trimStart();
  }
  return rest === '' ? text : rest;
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
