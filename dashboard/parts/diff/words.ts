/** Differences between two texts, by words. */
import { diffWordsWithSpace } from 'diff';

export type Piece = { text: string; kind: 'same' | 'added' | 'removed' };

/** Texts with more differences than this are shown whole, side by side: to find the fewest would hold up the page. */
const MOST_EDITS = 3_000;
/** The comparison of long texts may not hold up the page: half of what a slow task is. */
const LONGEST_MS = 25;
/** UTF-16 code units of both together: shorter texts are compared within the bound of edits, on whatever machine. */
const SHORT = 4_000;

/** Joins changes that only white space parts: phrases read better than words in turn. */
function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  let removed = '';
  let added = '';
  const flush = () => {
    if (removed !== '') result.push({ text: removed, kind: 'removed' });
    if (added !== '') result.push({ text: added, kind: 'added' });
    removed = '';
    added = '';
  };
  for (const { text, kind } of pieces) {
    const isBetween = kind === 'same' && text.trim() === '' && removed + added !== '';
    if (kind === 'same' && !isBetween) {
      flush();
      result.push({ text, kind });
    } else {
      if (kind !== 'added') removed += text;
      if (kind !== 'removed') added += text;
    }
  }
  flush();
  return result;
}

/** Returns what was added to a text, what was removed, and what stayed; null: they have too little in common. */
export function diffTexts(before: string, after: string): Piece[] | null {
  if (before === after) return before === '' ? [] : [{ text: before, kind: 'same' }];
  const isLong = before.length + after.length > SHORT;
  const changes = diffWordsWithSpace(before, after, {
    maxEditLength: MOST_EDITS,
    timeout: isLong ? LONGEST_MS : Number.POSITIVE_INFINITY,
  });
  if (changes === undefined) return null;
  return joined(
    changes.map(({ value, added, removed }) => ({
      text: value,
      kind: added ? 'added' : removed ? 'removed' : 'same',
    })),
  );
}
