/** Stacks of series. Pure. */

type Values = readonly (number | null)[];

/**
 * Returns each series added to those before it, where a missing value counts as none.
 * @example stack([[1, 2], [10, null]]) // [[1, 2], [11, 2]]
 */
export function stack(series: readonly Values[]): number[][] {
  const sums: number[][] = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums;
}
