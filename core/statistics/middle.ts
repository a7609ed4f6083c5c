/** Significant digits that two decimal fractions keep when their halves are added up as binary ones. */
const PRECISION = 15;

/** Returns the middle of two numbers of any size, as people write it: that of 1.1 and 1.3 is 1.2, which their halves add up to more than. */
export function middleOf(low: number, high: number): number {
  return Number((low / 2 + high / 2).toPrecision(PRECISION));
}
