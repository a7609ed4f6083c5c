/** Several tests at once. */

/**
 * Returns p values adjusted by Holm's step-down method (S. Holm, Scandinavian Journal of Statistics 6, 1979), in the order
 * of the input: those that are at most α hold together with a chance of any false one of α at most, however the tests
 * depend on each other.
 */
export function holmAdjusted(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((left, right) => values[left]! - values[right]!);
  const adjusted = new Array<number>(values.length);
  let largest = 0;
  for (const [rank, index] of order.entries()) {
    largest = Math.max(largest, Math.min(1, values[index]! * (values.length - rank)));
    adjusted[index] = largest;
  }
  return adjusted;
}
