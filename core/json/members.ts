/**
 * Edits top-level members of a JSON object without touching any other byte: what a gateway needs to change a model
 * name or ask for usage and still pass on unknown fields, their order, their spacing and their odd numbers.
 *
 * Works on the bytes read as Latin-1, where one character is one byte: every structural character of JSON is ASCII, and
 * no byte of a longer UTF-8 sequence can be mistaken for one.
 */
import { skipString } from './skip-string.ts';

/** A member: its name begins at `from`, its value lies between the others. */
type Span = { from: number; start: number; end: number };

const QUOTE = 0x22;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** `from` is at a value's first character; returns the place behind its last. */
function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return skipString(text, from);
  let at = from;
  if (first !== '{' && first !== '[') {
    while (at < text.length && !',}]'.includes(text[at]!) && !isSpace(text.charCodeAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    at += 1;
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return at;
}

/** Where top-level members called `name` stand; several when the name is repeated. */
function findMember(text: string, name: string): Span[] {
  const spans: Span[] = [];
  let at = skipSpace(text, 0) + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] !== '"') return spans;
    const nameEnd = skipString(text, at);
    const memberName: unknown = JSON.parse(text.slice(at, nameEnd));
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = skipValue(text, start);
    if (memberName === name) spans.push({ from: at, start, end });
    at = skipSpace(text, end);
    if (text[at] !== ',') return spans;
    at += 1;
  }
}

/** Writes members called `name` anew, or a last one when there is none. `write` is told what the value was; null: none. */
function edit(text: string, name: string, write: (value: string | null) => string): string {
  const spans = findMember(text, name);
  if (spans.length === 0) {
    const end = text.lastIndexOf('}');
    const isEmpty = text[skipSpace(text, skipSpace(text, 0) + 1)] === '}';
    return `${text.slice(0, end)}${isEmpty ? '' : ','}"${name}":${write(null)}${text.slice(end)}`;
  }
  let edited = '';
  let copied = 0;
  for (const { start, end } of spans) {
    edited += text.slice(copied, start) + write(text.slice(start, end));
    copied = end;
  }
  return edited + text.slice(copied);
}

function jsonOf(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('latin1');
}

/**
 * Sets top-level member `name` of a JSON object to `value`, in place of every earlier value of that name, or as the
 * last member when there is none. All other bytes stay as they are.
 *
 * @param body bytes of a JSON object that `JSON.parse` has accepted
 * @param name an ASCII name
 */
export function setMember(body: Buffer, name: string, value: unknown): Buffer {
  const json = jsonOf(value);
  return Buffer.from(
    edit(body.toString('latin1'), name, () => json),
    'latin1',
  );
}

/**
 * The same for member `inner` of the object that top-level member `name` is: its others stay as they are too. Where that
 * is no object, or not there, it becomes one of `inner` alone.
 */
export function setInnerMember(body: Buffer, name: string, inner: string, value: unknown): Buffer {
  const json = jsonOf(value);
  const write = (object: string | null) =>
    object?.startsWith('{') === true ? edit(object, inner, () => json) : `{"${inner}":${json}}`;
  return Buffer.from(edit(body.toString('latin1'), name, write), 'latin1');
}

/**
 * Leaves every top-level member `name` out of a JSON object, each with one comma. All other bytes stay as they are.
 *
 * @param body bytes of a JSON object that `JSON.parse` has accepted
 * @param name an ASCII name
 */
export function dropMember(body: Buffer, name: string): Buffer {
  const text = body.toString('latin1');
  const spans = findMember(text, name);
  if (spans.length === 0) return body;
  let kept = '';
  let copied = 0;
  for (const { from, end } of spans) {
    const next = skipSpace(text, end);
    const isLast = text[next] !== ',';
    kept += text.slice(copied, from);
    copied = isLast ? end : next + 1;
    // The comma in front of the last one goes with it, wherever that stands by now.
    if (isLast) kept = kept.replace(/,[ \n\r\t]*$/, '');
  }
  return Buffer.from(kept + text.slice(copied), 'latin1');
}
