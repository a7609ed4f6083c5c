/** Compares two texts by lines, and lines that replace others by words. Pure. */
import { diffLines as changesOfLines } from 'diff';
import { diffTexts, type Piece } from '../../../parts/diff/words.ts';

export type DiffPart = { text: string; isChanged: boolean };
export type DiffLine = { kind: 'same' | 'added' | 'removed'; parts: DiffPart[] };

/** More edits than this are not looked for: the texts are then shown as replaced. */
const MAX_EDIT_LENGTH = 2_000;

const linesOf = (text: string) => text.replace(/\n$/, '').split('\n');

function whole(kind: DiffLine['kind'], text: string): DiffLine[] {
  return linesOf(text).map((line) => ({ kind, parts: [{ text: line, isChanged: false }] }));
}

/** Returns one side of a comparison by words; without a comparison, its text as it is. */
function lineOf(kind: 'added' | 'removed', words: readonly Piece[] | null, text: string): DiffLine {
  if (words === null) return { kind, parts: [{ text, isChanged: true }] };
  const parts = words.filter((piece) => piece.kind === kind || piece.kind === 'same');
  return { kind, parts: parts.map((piece) => ({ text: piece.text, isChanged: piece.kind === kind })) };
}

/** Returns lines that replace others: in pairs from the first, with the words that differ. */
function replaced(before: string, after: string): DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  const paired = Math.min(old.length, next.length);
  const words = old.slice(0, paired).map((line, index) => diffTexts(line, next[index]!));
  const rest = (kind: 'added' | 'removed', lines: readonly string[]) =>
    lines.slice(paired).map((text): DiffLine => ({ kind, parts: [{ text, isChanged: false }] }));
  return [
    ...words.map((pieces, index) => lineOf('removed', pieces, old[index]!)),
    ...rest('removed', old),
    ...words.map((pieces, index) => lineOf('added', pieces, next[index]!)),
    ...rest('added', next),
  ];
}

/** Returns the lines of both texts in their order. */
export function diffLines(before: string, after: string): DiffLine[] {
  const changes = changesOfLines(`${before}\n`, `${after}\n`, { maxEditLength: MAX_EDIT_LENGTH });
  if (changes === undefined) return [...whole('removed', before), ...whole('added', after)];
  const lines: DiffLine[] = [];
  for (let at = 0; at < changes.length; at++) {
    const change = changes[at]!;
    const next = changes[at + 1];
    if (change.removed && next?.added) {
      lines.push(...replaced(change.value, next.value));
      at++;
    } else {
      const kind = change.added ? 'added' : change.removed ? 'removed' : 'same';
      lines.push(...whole(kind, change.value));
    }
  }
  return lines;
}
