import { bestTotal } from './best-total.ts';
import { textSimilarity } from './similarity.ts';

/**
 * Returns how much of a list of texts is in another, from 0 to 1: items are paired, each once, so that the pairs are as
 * alike as they can be, and the sum of their similarities is shared out over the longer list, or over the expected one
 * when extra items do not count.
 */
export function listSimilarity(
  output: readonly string[],
  expected: readonly string[],
  allowExtraEntities: boolean,
): number {
  if (output.length === 0 || expected.length === 0) return output.length === expected.length ? 1 : 0;
  const total = bestTotal(output.map((item) => expected.map((wanted) => textSimilarity(item, wanted))));
  const count = allowExtraEntities ? expected.length : Math.max(output.length, expected.length);
  return Math.min(1, total / count);
}
