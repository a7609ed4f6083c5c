/** The beginning of a bucket as text: as short as the lengths of buckets allow. */
import { day, dayAndMinutes } from '../formats/times.ts';
import type { Buckets } from './buckets.ts';

/** A day on which the clock is set forward. */
const LEAST_DAY_MS = 23 * 3_600_000;

/** @example bucketTime(begin, buckets) // 'Nov 21', of days; 'Nov 21, 14:00', of hours */
export function bucketTime(ms: number, { begins }: Pick<Buckets, 'begins'>): string {
  const [first, second, third] = begins;
  // The first bucket of an hour that a change of the clock cuts is short; so is none of days.
  const length = third !== undefined ? third - second! : second !== undefined ? second - first! : 0;
  return length >= LEAST_DAY_MS ? day(ms) : dayAndMinutes(ms);
}
