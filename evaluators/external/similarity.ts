/** How alike two values are, from 0 to 1. */
import { editDistance } from '#core/text/mod.ts';

/**
 * Returns 1 less the edit distance of two texts as a share of the longer one's characters; 1 for two empty ones. A
 * character is a code point of the text in NFC: an emoji is one, and `é` is `é` however it was typed. User-perceived
 * characters would be closer still to what people count, but their rules change with each version of Unicode, and scores
 * with them.
 */
export function textSimilarity(one: string, other: string): number {
  const [first, second] = [one.normalize('NFC'), other.normalize('NFC')];
  const longest = Math.max([...first].length, [...second].length);
  return longest === 0 ? 1 : 1 - editDistance(first, second) / longest;
}

/** Returns 1 less the difference of two numbers as a share of what both are together. */
export function numberSimilarity(one: number, other: number): number {
  if (one === 0 && other === 0) return 1;
  return 1 - Math.abs(one - other) / (Math.abs(one) + Math.abs(other));
}
