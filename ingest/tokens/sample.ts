/**
 * Characters: longer texts are counted by a sample of this length. With less, what texts are made of would be missed; with
 * more, a text made to be slow would take longer than a third of a second.
 */
const LONGEST_COUNTED = 32 * 1024;
/** So many that a text of different kinds (prose, then a table, then code) is met in all of them. */
const STRETCHES = 32;

export type Sample = {
  text: string;
  /** How many times the sample's tokens the whole text has. */
  factor: number;
};

/** The text itself, or stretches of it at even distances. */
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
