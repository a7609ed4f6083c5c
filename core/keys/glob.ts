/**
 * Returns whether a glob matches a text. `*` stands for any characters, `/` and none included; everything else for itself.
 *
 * A glob can stand in the place of the text: the result is then whether the first glob covers the second, that is whether
 * it matches every text that the second one matches. A `*` of the second glob is a character that only a `*` of the first
 * one matches, which makes the answer exact in both directions.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let inGlob = 0;
  let inText = 0;
  /** Where to go on when a literal fails: behind the latest `*`, which then takes one character more. */
  let behindStar = -1;
  let starEnd = 0;
  while (inText < text.length) {
    if (glob[inGlob] === '*') {
      inGlob += 1;
      behindStar = inGlob;
      starEnd = inText;
    } else if (glob[inGlob] === text[inText]) {
      inGlob += 1;
      inText += 1;
    } else if (behindStar !== -1) {
      starEnd += 1;
      inGlob = behindStar;
      inText = starEnd;
    } else return false;
  }
  while (glob[inGlob] === '*') inGlob += 1;
  return inGlob === glob.length;
}

/** Returns whether one of the globs matches one of the texts. */
export function matchesAny(globs: readonly string[], texts: readonly string[]): boolean {
  return globs.some((glob) => texts.some((text) => matchesGlob(glob, text)));
}
