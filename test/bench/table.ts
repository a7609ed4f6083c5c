/** Plain-text tables for reports, and the figures in them. */
export { formatTable } from '../../scripts/demo/format-table.ts';

/** Writes a line of a report. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The middle of some measurements; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value that `fraction` of `sorted` do not exceed; NaN of none. */
export function percentile(sorted: ArrayLike<number>, fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * fraction) - 1)] ?? Number.NaN;
}
