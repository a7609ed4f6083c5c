import { list } from './cells.ts';

/** Returns the grouping sets of levels, which all have `others` besides, and the expression that names the level of a group. */
export function groupByLevels(
  levels: readonly (readonly [name: string, dimensions: readonly string[]])[],
  others: readonly string[],
): { sets: string; level: string } {
  const sets = levels.map(([, dimensions]) => `(${list([...others, ...dimensions])})`);
  // A level is recognized by a dimension that only it has; `status` has those of `model` and more, so it is tested first.
  const cases = levels
    .toSorted(([, left], [, right]) => right.length - left.length)
    .map(
      ([name, dimensions]) =>
        `when ${dimensions.map((one) => `grouping(${one}) = 0`).join(' and ')} then '${name}'`,
    );
  return { sets: `grouping sets (${sets.join(', ')})`, level: `case ${cases.join(' ')} end` };
}
