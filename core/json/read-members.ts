/**
 * Finds what `JSON.parse` does not report: names that occur twice in one object, and the text of values as written. It works
 * on character codes, because a regular expression runs out of stack on a string of some megabytes.
 */
import { textStringEnd } from './string-end.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPENING = { brace: 0x7b, bracket: 0x5b };
const CLOSING = { brace: 0x7d, bracket: 0x5d };

/** The white space of JSON. */
const SPACES = ' \n\r\t';
const LONGEST_SHOWN_NAME = 80;

const opens = (code: number) => code === OPENING.brace || code === OPENING.bracket;
const closes = (code: number) => code === CLOSING.brace || code === CLOSING.bracket;

function firstOfValue(text: string, from: number): number {
  let at = from;
  while (SPACES.includes(text[at]!)) at += 1;
  return at;
}

/** Returns whether a number or a literal ends before this character. */
function endsScalar(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return at >= text.length || code === COMMA || closes(code) || SPACES.includes(text[at]!);
}

/** Returns the position of the last character of the value that begins at `from`. */
function lastOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first !== QUOTE && !opens(first)) {
    let end = from + 1;
    while (!endsScalar(text, end)) end += 1;
    return end - 1;
  }
  let depth = 0;
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = textStringEnd(text, at) - 1;
    else if (opens(code)) depth += 1;
    else if (closes(code)) depth -= 1;
    if (depth === 0) return at;
  }
}

/** The names that lead to a member, from the outermost object on. */
export type MemberPath = readonly string[];

export type Members = {
  /** The first name, as JSON, that occurs twice in one object; null when there is none. */
  repeated: string | null;
  /** The text of each requested member; null where there is none. */
  written: (string | null)[];
};

/** An object or array that is open at the reader's position: the names seen in it, and the latest. */
type Open = { names: Set<string> | null; latest: string | null };

/**
 * Reads the names of a text. `JSON.parse` silently keeps the last of two equal names, so that a filter could lose a
 * condition.
 *
 * @param text JSON that `JSON.parse` has accepted
 * @param paths of members whose values are wanted as written; names within them are not looked at
 */
export function readMembers(text: string, paths: readonly MemberPath[]): Members {
  const written: (string | null)[] = paths.map(() => null);
  const open: Open[] = [];
  let last = { start: 0, end: 0 };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      last = { start: at, end: textStringEnd(text, at) };
      at = last.end - 1;
    } else if (opens(code)) {
      open.push({ names: code === OPENING.brace ? new Set() : null, latest: null });
    } else if (closes(code)) {
      open.pop();
    } else if (code === COLON) {
      const object = open.at(-1)!;
      const quoted = text.slice(last.start, last.end);
      const name = JSON.parse(quoted) as string;
      if (object.names?.has(name)) return { repeated: quoted.slice(0, LONGEST_SHOWN_NAME), written };
      object.names?.add(name);
      object.latest = name;
      const wanted = paths.findIndex((path) => leadsHere(path, open));
      if (wanted === -1) continue;
      const start = firstOfValue(text, at + 1);
      at = lastOfValue(text, start);
      written[wanted] = text.slice(start, at + 1);
    }
  }
  return { repeated: null, written };
}

function leadsHere(path: MemberPath, open: readonly Open[]): boolean {
  return path.length === open.length && path.every((name, level) => open[level]?.latest === name);
}
