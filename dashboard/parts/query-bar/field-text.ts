/** Changes of the field's text that its undo takes back. */
import type { Option } from '#core/filter/query-text/completion/mod.ts';

/**
 * Puts an option in the place of what it completes, with a space behind it where the next term may begin. The field tells the
 * change as if it had been typed.
 */
export function takeOption(field: HTMLTextAreaElement, { insert, from, to, isUnfinished }: Option): void {
  const next = field.value[to];
  const isEnd = !isUnfinished && next === undefined;
  replaceText(field, from, to, isEnd ? `${insert} ` : insert);
}

/** Writes in the place of a part of the text. */
export function replaceText(field: HTMLTextAreaElement, from: number, to: number, text: string): void {
  field.focus();
  field.setSelectionRange(from, to);
  // Outdated, but nothing else keeps the undo of the browser.
  const isDone =
    text === '' ? document.execCommand('delete') : document.execCommand('insertText', false, text);
  if (isDone) return;
  field.setRangeText(text, from, to, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/** A request's id is a UUID or a ULID. */
const ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9a-hjkmnp-tv-z]{25})$/i;

/** Returns the request's id that a pasted text is; null: it is another text. */
export function pastedId(text: string): string | null {
  const id = text.trim();
  return ID.test(id) ? id : null;
}
