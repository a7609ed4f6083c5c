/** Agreement, beyond chance, of people who rate the same items. */

/** A coefficient: 1 when all agree, 0 as by chance; or the reason that there is none. */
export type Agreement = { value: number } | { value: null; reason: string };

/** The distance of two categories: `none` not at all or fully, else by the steps between them or their square. */
export type Weights = 'none' | 'linear' | 'quadratic';

const NO_RATINGS = 'no item has two ratings';
const ONE_CATEGORY = 'all ratings are the same, which chance explains as well';

function distance(one: number, other: number, weights: Weights): number {
  if (weights === 'none') return one === other ? 0 : 1;
  return weights === 'linear' ? Math.abs(one - other) : (one - other) ** 2;
}

/** Returns one less the share of disagreement that chance would bring; computed in counts, so that equal values are equal. */
function beyondChance(observed: number, expected: number): Agreement {
  return expected === 0 ? { value: null, reason: ONE_CATEGORY } : { value: 1 - observed / expected };
}

/**
 * Returns Cohen's kappa of two raters (J. Cohen, Educational and Psychological Measurement 20, 1960), or weighted kappa
 * (J. Cohen, Psychological Bulletin 70, 1968) of ordered categories.
 * @param table square: numbers of items by the category of the first rater (row) and of the second (column)
 */
export function cohensKappa(table: readonly (readonly number[])[], weights: Weights = 'none'): Agreement {
  const rows = table.map((row) => row.reduce((sum, count) => sum + count, 0));
  const columns = table.map((_, column) => table.reduce((sum, row) => sum + row[column]!, 0));
  const total = rows.reduce((sum, count) => sum + count, 0);
  if (total === 0) return { value: null, reason: NO_RATINGS };
  let [observed, expected] = [0, 0];
  for (const [one, row] of table.entries()) {
    for (const [other, count] of row.entries()) {
      const apart = distance(one, other, weights);
      observed += apart * count * total;
      expected += apart * rows[one]! * columns[other]!;
    }
  }
  return beyondChance(observed, expected);
}

/**
 * Returns Fleiss' kappa of any number of raters, who need not be the same for each item (J. L. Fleiss, Psychological Bulletin
 * 76, 1971).
 * @param counts for each item the number of raters by category; each item has the same number of ratings, at least 2
 */
export function fleissKappa(counts: readonly (readonly number[])[]): Agreement {
  const raters = counts[0]?.reduce((sum, count) => sum + count, 0) ?? 0;
  const isEven = counts.every((row) => row.reduce((sum, count) => sum + count, 0) === raters);
  if (!isEven) return { value: null, reason: 'items have different numbers of ratings' };
  if (raters < 2) return { value: null, reason: NO_RATINGS };
  const totals = counts[0]!.map((_, category) => counts.reduce((sum, row) => sum + row[category]!, 0));
  const ratings = counts.length * raters;
  const agreeing = counts.flat().reduce((sum, count) => sum + count * (count - 1), 0);
  const alike = totals.reduce((sum, total) => sum + total * total, 0);
  // Shares of disagreeing pairs of ratings: within items, and among all ratings.
  return beyondChance(
    (ratings * (raters - 1) - agreeing) / (ratings * (raters - 1)),
    (ratings * ratings - alike) / (ratings * ratings),
  );
}
