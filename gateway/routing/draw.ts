/** Weighted choice. */

export type Weighted<T> = {
  item: T;
  /** Its share of being drawn first; 0: never before those that have a weight. */
  weight: number;
};

/**
 * Returns all items in the order in which they are drawn: by weight, without replacement; those of weight 0 come last, in
 * their order.
 * @param random numbers in [0, 1)
 */
export function drawOrder<T>(items: readonly Weighted<T>[], random: () => number): T[] {
  const left = items.filter(({ weight }) => weight > 0);
  const drawn: T[] = [];
  while (left.length > 0) drawn.push(...left.splice(drawnIndex(left, random), 1).map(({ item }) => item));
  for (const { item, weight } of items) if (weight === 0) drawn.push(item);
  return drawn;
}

function drawnIndex(items: readonly Weighted<unknown>[], random: () => number): number {
  let rest = random() * items.reduce((sum, { weight }) => sum + weight, 0);
  for (const [index, { weight }] of items.entries()) {
    rest -= weight;
    if (rest < 0) return index;
  }
  // The last item gets what rounding leaves over.
  return items.length - 1;
}
