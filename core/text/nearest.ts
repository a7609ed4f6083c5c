/** Finds what somebody probably meant to write. */
import { editDistance } from './edit-distance.ts';

/** Longer texts are compared by their beginnings: the work grows with the product of the lengths. */
const COMPARED_CHARACTERS = 100;
/** More changes than one in so many characters, and the two have nothing to do with each other. */
const CHARACTERS_PER_CHANGE = 3;

/**
 * Returns the candidate that takes the fewest changes to become `text`, ignoring case; null when none is near.
 * @param mostChanges beyond which none is; a third of the characters unless given
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
