/** What stands at a place of a text that is being written: quotation marks and parentheses may still be open. */
import { findNamed, type NamedField } from '../names.ts';
import { namedOperator } from '../quote.ts';
import { isBoundary, isSpace } from '../words.ts';

/** From, up to but not including to. */
export type Stretch = { readonly from: number; readonly to: number };

export type Place =
  /** A term may begin here. `hasTerm`: one stands before it, so that a word may join them. */
  | (Stretch & { readonly kind: 'term'; readonly hasTerm: boolean })
  /** Behind `has:`. */
  | (Stretch & { readonly kind: 'presence' })
  /** Behind the colon of a field, or in its parentheses; `from` is behind the operator. */
  | (Stretch & {
      readonly kind: 'value';
      readonly field: NamedField;
      readonly operator: Stretch;
      readonly isInGroup: boolean;
    });

type Group = { readonly field: NamedField | null; hasTerm: boolean };
const JOINS = new Set(['AND', 'OR', 'NOT']);
const SYMBOL = /^(?:>=|<=|!=|[><~=])/;

/** Returns the place of the cursor; null: right before a word, right behind a `)`, or in a value of an unknown field. */
export function placeAt(text: string, offset: number): Place | null {
  const groups: Group[] = [{ field: null, hasTerm: false }];
  let at = 0;
  for (;;) {
    const group = groups.at(-1)!;
    while (at < offset && isSpace(text, at)) at += 1;
    // A term needs a space behind a parenthesis that closes.
    const isFree = isBoundary(text, at) && text[at - 1] !== ')';
    if (at >= offset) return isFree ? placeInWord(text, offset, { from: at, to: at }, group) : null;
    if (text[at] === '(') {
      groups.push({ field: group.field, hasTerm: false });
      at += 1;
      continue;
    }
    if (text[at] === ')') {
      if (groups.length > 1) groups.pop();
      groups.at(-1)!.hasTerm = true;
      at += 1;
      continue;
    }
    const to = endOfWord(text, at);
    if (offset <= to) return placeInWord(text, offset, { from: at, to }, group);
    const word = text.slice(at, to);
    at = to;
    if (text[to] === '(' && word.endsWith(':')) {
      groups.push({ field: findNamed(unquoted(word.replace(/^-+/, '').slice(0, -1))), hasTerm: false });
      at += 1;
    } else group.hasTerm = !JOINS.has(word);
  }
}

function placeInWord(text: string, offset: number, word: Stretch, group: Group): Place | null {
  const { to } = word;
  let { from } = word;
  while (text[from] === '-' && from < offset) from += 1;
  if (group.field !== null) return valuePlace(text, offset, { from, to }, group.field, true);
  const colon = colonOf(text, from, to);
  if (colon === -1 || offset <= colon) {
    return { kind: 'term', from, to: colon === -1 ? to : colon + 1, hasTerm: group.hasTerm };
  }
  const name = text.slice(from, colon);
  if (name === 'has') return { kind: 'presence', from: colon + 1, to };
  const field = findNamed(unquoted(name));
  return field === null ? null : valuePlace(text, offset, { from: colon + 1, to }, field, false);
}

function valuePlace(
  text: string,
  offset: number,
  { from, to }: Stretch,
  field: NamedField,
  isInGroup: boolean,
): Place {
  const raw = text.slice(from, to);
  const named = namedOperator(raw);
  const length = named === null ? (SYMBOL.exec(raw)?.[0].length ?? 0) : named.length + 1;
  const start = from + length;
  return {
    kind: 'value',
    field,
    operator: { from, to: start },
    from: start,
    to: Math.max(to, start, offset),
    isInGroup,
  };
}

/** Returns the end of the word at a place; a quotation mark that is not closed takes the rest of the text. */
function endOfWord(text: string, from: number): number {
  let at = from;
  while (!isBoundary(text, at)) at = text[at] === '"' ? endOfQuote(text, at) : at + 1;
  return at;
}

function endOfQuote(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function colonOf(text: string, from: number, to: number): number {
  let at = from;
  while (at < to) {
    if (text[at] === ':') return at;
    at = text[at] === '"' ? endOfQuote(text, at) : at + 1;
  }
  return -1;
}

const QUOTED = /"((?:[^"\\]|\\[\s\S])*)("|\\?$)/g;

/** Returns what a word means whose quotation mark may still be open. */
export function unquoted(word: string): string {
  return word.replace(QUOTED, (_, inner: string) => {
    try {
      return JSON.parse(`"${inner.replaceAll('\n', '\\n')}"`) as string;
    } catch {
      // An escape that is not finished, or a character that JSON has as an escape only.
      return inner;
    }
  });
}
