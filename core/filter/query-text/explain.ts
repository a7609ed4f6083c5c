/** What a text says, part by part: for its colours, and for a mistake under its place. */
import type { QueryTextError } from './fault.ts';
import { readQueryText } from './parse.ts';
import type { TokenKind } from './token.ts';
import { conditionOf, type FilterTree, isBranch } from './tree.ts';

export type PartKind =
  | 'field'
  | 'operator'
  | 'value'
  | 'quoted'
  /** Text without a field. */
  | 'word'
  | 'paren'
  /** AND, OR, NOT, `-`. */
  | 'join'
  /** Spaces, and whatever comes behind a mistake. */
  | 'plain';

export type TextPart = {
  readonly kind: PartKind;
  readonly text: string;
  /** UTF-16 code units from the beginning. */
  readonly offset: number;
  /** Whether the mistake is here. */
  readonly isFault: boolean;
};

export type Explained = {
  /** All of the text, without gaps. */
  readonly parts: readonly TextPart[];
  readonly filter: FilterTree | null;
  readonly error: QueryTextError | null;
  /** Whether bodies are searched, which no index serves. */
  readonly scansBodies: boolean;
};

const KINDS: Readonly<Record<TokenKind, PartKind>> = {
  and: 'join',
  or: 'join',
  not: 'join',
  open: 'paren',
  close: 'paren',
  field: 'field',
  operator: 'operator',
  value: 'value',
  text: 'word',
};

/** Explains a text, also one that is still being written. Never throws. */
export function explain(text: string): Explained {
  const { tokens, filter, error } = readQueryText(text);
  const parts: TextPart[] = [];
  let end = 0;
  const push = (kind: PartKind, from: number, to: number) => {
    for (const [start, stop] of cutAt(from, to, error)) {
      const isFault = error !== null && start >= error.offset && stop <= error.offset + error.length;
      parts.push({ kind, text: text.slice(start, stop), offset: start, isFault });
    }
  };
  for (const { kind, offset, length } of tokens) {
    push('plain', end, offset);
    end = offset + length;
    const isQuoted = text[offset] === '"' && (kind === 'value' || kind === 'text');
    push(isQuoted ? 'quoted' : KINDS[kind], offset, end);
  }
  push('plain', end, text.length);
  return { parts, filter, error, scansBodies: filter !== null && hasBody(filter) };
}

/** Returns a part in up to three pieces: before the mistake, in it, and behind it. */
function cutAt(from: number, to: number, error: QueryTextError | null): [from: number, to: number][] {
  if (error === null) return from < to ? [[from, to]] : [];
  const [start, stop] = [error.offset, error.offset + error.length].map((at) =>
    Math.min(Math.max(at, from), to),
  ) as [number, number];
  const pieces: [number, number][] = [
    [from, start],
    [start, stop],
    [stop, to],
  ];
  return pieces.filter(([one, other]) => one < other);
}

function hasBody(tree: FilterTree): boolean {
  if (isBranch(tree)) return hasBody(tree.left) || hasBody(tree.right);
  const condition = conditionOf(tree);
  return condition?.field === 'body' && (condition.section === 'request' || condition.section === 'response');
}
