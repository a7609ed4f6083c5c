/**
 * Returns how many characters must be inserted, deleted or replaced to make one text of the other (Levenshtein). A
 * character is a code point, so an emoji counts as one; texts are compared as they stand, without normalization.
 */
export function editDistance(one: string, other: string): number {
  const [columns, rows] = [codePointsOf(one), codePointsOf(other)];
  // Distances of the row's text so far to each beginning of the other text; one row is kept, and overwritten.
  const distances = Int32Array.from({ length: columns.length + 1 }, (_, index) => index);
  for (let row = 0; row < rows.length; row += 1) {
    const character = rows[row];
    let diagonal = row;
    let left = row + 1;
    distances[0] = left;
    for (let column = 0; column < columns.length; column += 1) {
      const above = distances[column + 1]!;
      const replaced = diagonal + (columns[column] === character ? 0 : 1);
      left = Math.min(replaced, above + 1, left + 1);
      diagonal = above;
      distances[column + 1] = left;
    }
  }
  return distances[columns.length]!;
}

function codePointsOf(text: string): Int32Array {
  return Int32Array.from([...text], (character) => character.codePointAt(0)!);
}
