/**
 * Characters: longer texts are counted by a sample of this length. A shorter one would misrepresent mixed texts; with a
 * longer one, a text made to be slow would take more than a third of a second.
 */
const LONGEST_COUNTED = 32 * 1024;
/** Number of stretches in a sample: enough that each kind of content (prose, then a table, then code) is in it. */
const STRETCHES = 32;

/** A text to count instead of a longer one. */
export type Sample = {
  text: string;
  /** The length of the whole text divided by the sample's: its tokens are estimated as this times the sample's. */
  factor: number;
};

/** Returns the text itself, or stretches of it at even distances. */
export function sampleOf(text: string): Sample {
  if (text.length <= LONGEST_COUNTED) return { text, factor: 1 };
  const length = LONGEST_COUNTED / STRETCHES;
  const distance = (text.length - length) / (STRETCHES - 1);
  const stretches = Array.from({ length: STRETCHES }, (_, index) => {
    const start = Math.floor(index * distance);
    return text.slice(start, start + length);
  });
  return { text: stretches.join(''), factor: text.length / LONGEST_COUNTED };
}
