/** Removes the white space between the tokens of a JSON text. Members keep their order, numbers and strings their form. */
import { isSpace } from './json-bytes.ts';
import { textStringEnd } from './string-end.ts';

const QUOTE = 0x22;

/** @param text JSON that JSON.parse accepts */
export function withoutSpace(text: string): string {
  let compact = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = textStringEnd(text, at) - 1;
    else if (isSpace(code)) {
      compact += text.slice(from, at);
      from = at + 1;
    }
  }
  return from === 0 ? text : compact + text.slice(from);
}
