/** Finds what somebody probably meant to write. Pure. */

/** Longer texts are compared by their beginnings: the work grows with the product of the lengths. */
const COMPARED_CHARACTERS = 100;
/** More changes than one in so many characters, and the two have nothing to do with each other. */
const CHARACTERS_PER_CHANGE = 3;

/**
 * Returns the candidate that takes the fewest changes (a character added, removed, replaced, or swapped with its
 * neighbour) to become `text`, ignoring case; null when none is near.
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
    const changes = distance(text.toLowerCase(), candidate.toLowerCase());
    if (changes >= fewest) continue;
    best = candidate;
    fewest = changes;
  }
  return best;
}

/** The optimal string alignment distance: https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance */
function distance(left: string, right: string): number {
  const a = [...left.slice(0, COMPARED_CHARACTERS)];
  const b = [...right.slice(0, COMPARED_CHARACTERS)];
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let changes = Math.min(
        current[column - 1]! + 1,
        last[column]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) changes = Math.min(changes, beforeLast[column - 2]! + 1);
      current.push(changes);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
