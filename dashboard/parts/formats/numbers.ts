/** Numbers, money and durations as the pages show them. */
import { compact, inPercent, withDigits, withPlaces } from './decimals.ts';

/** What stands where there is no value. */
export const NOTHING = '–';

/** @example count(12345) // '12,345' */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : withPlaces(value, { most: 0 });
}

/**
 * A number of things, whose plural ends in s unless it is given.
 * @example plural(1, 'request') // '1 request'
 */
export function plural(value: number | null, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

/** @example shortCount(12345) // '12.3K' */
export function shortCount(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : compact(value);
}

/** @example percent(0.1234) // '12.3%' */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share) ? NOTHING : inPercent(share);
}

/** A number with up to three digits that count, and all before the point. */
export function decimal(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : withDigits(value, 3);
}

/**
 * US dollars: to the cent, and below ten cents with two digits that count.
 * @example dollars(1234.5) // '$1,234.50'
 * @example dollars(0.00012) // '$0.00012'
 */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  if (value === 0) return '$0';
  if (value < 0) return `-${dollars(-value)}`;
  // Rounded first: 0.0999 are ten cents, written as others are.
  const small = value < 0.1 ? withDigits(value, 2) : '0.1';
  return `$${small === '0.1' ? withPlaces(value, { most: 2, least: 2 }) : small}`;
}

/** @example milliseconds(1234) // '1.23 s' */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  if (value < 1_000) return `${withDigits(value, 3)} ms`;
  if (value < 60_000) return `${withDigits(value / 1_000, 3)} s`;
  const seconds = Math.round(value / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** @example bytes(2048) // '2 KiB' */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  return `${withDigits(value / 1024 ** power, 3)} ${units[power]}`;
}
