/** The greatest series, and all others as one. Pure. */

type Group<Key> = { group: Key; values: readonly (number | null)[] };

/**
 * Returns the first groups, and the sums of the others.
 * @param groups the greatest first
 * @param rest what is left out of `groups` already; null: nothing is
 */
export function topWithOther<Key>(
  groups: readonly Group<Key>[],
  rest: readonly (number | null)[] | null,
  most: number,
): { top: readonly Group<Key>[]; other: readonly (number | null)[] | null } {
  const top = groups.slice(0, most);
  const others = [...groups.slice(most).map(({ values }) => values), ...(rest === null ? [] : [rest])];
  if (others.length === 0) return { top, other: null };
  return {
    top,
    other: others[0]!.map((_, index) =>
      others.reduce<number | null>((sum, values) => {
        const value = values[index] ?? null;
        return value === null ? sum : (sum ?? 0) + value;
      }, null),
    ),
  };
}
