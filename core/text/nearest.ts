/** Finds the text that a caller probably meant to write. */
import { editDistance } from './edit-distance.ts';

/** Longer texts are compared by this many first characters: the work grows with the product of the lengths. */
const COMPARED_CHARACTERS = 100;
/** Texts with more than one change in this many characters are unrelated. */
const CHARACTERS_PER_CHANGE = 3;

/**
 * Returns the candidate that takes the fewest changes to become `text`, ignoring case; null when none is near.
 * @param mostChanges the most changes that still count as near; default: a third of the characters
 */
export function nearest(
  text: string,
  candidates: Iterable<string>,
  mostChanges = Math.floor(Math.min(text.length, COMPARED_CHARACTERS) / CHARACTERS_PER_CHANGE),
): string | null {
  let best: string | null = null;
  let fewest = mostChanges + 1;
  for (const candidate of candidates) {
    const changes = editDistance(compared(text), compared(candidate));
    if (changes >= fewest) continue;
    best = candidate;
    fewest = changes;
  }
  return best;
}

function compared(text: string): string {
  return text.slice(0, COMPARED_CHARACTERS).toLowerCase();
}
