/**
 * Numbers in decimal writing, as `Intl.NumberFormat('en-US')` writes them. The first use of Intl takes a page 31 to 77 ms (measured,
 * Chromium 156, two cores), and the list of requests would wait for it.
 */

/** Returns `value` · 10^`places`, exact in decimal: 1.005 by two places is 100.5, which a product in binary is not. */
function shifted(value: number, places: number): number {
  const [digits, exponent] = value.toExponential().split('e');
  return Number(`${digits}e${Number(exponent) + places}`);
}

const grouped = (digits: string) => digits.replace(/\B(?=(?:\d{3})+$)/g, ',');

export type Places = {
  /** Digits behind the point, at most. */
  most: number;
  /** Digits behind the point, at least. Default: 0. */
  least?: number;
};

/**
 * Returns a number with separators, rounded as it is written, half away from zero: 1.005 to two places is 1.01, though it is a
 * little less in binary.
 * @example withPlaces(1234.5, { most: 2, least: 2 }) // '1,234.50'
 */
export function withPlaces(value: number, { most, least = 0 }: Places): string {
  // `toFixed` writes larger ones with an exponent; the rest is no number.
  if (!(Math.abs(value) < 1e21)) return String(value);
  const sign = value < 0 ? '-' : '';
  const rounded = shifted(Math.round(shifted(Math.abs(value), most)), -most);
  const [whole = '', fraction = ''] = rounded.toFixed(most).split('.');
  let end = fraction.length;
  while (end > least && fraction[end - 1] === '0') end--;
  return `${sign}${grouped(whole)}${end === 0 ? '' : `.${fraction.slice(0, end)}`}`;
}

/** Numbers that are smaller by more powers of ten are written like `1.5e-30`. */
const SMALLEST_POWER = 20;

/** The power of ten of the first digit; of zero it is 0. */
const powerOf = (value: number) => Number(value.toExponential().split('e')[1]);

/**
 * Returns a number with so many digits that count, at most, and all of those before the point: a thousand and one written as a
 * thousand is another number.
 * @example withDigits(0.66666, 3) // '0.667'
 * @example withDigits(12345.6, 3) // '12,346'
 */
export function withDigits(value: number, digits: number): string {
  const power = powerOf(value);
  // Zeros beyond counting; `toFixed` writes a hundred at most.
  if (power < -SMALLEST_POWER) return String(Number(value.toPrecision(digits)));
  return withPlaces(value, { most: Math.max(0, digits - 1 - power) });
}

const UNITS = ['', 'K', 'M', 'B', 'T'];

/**
 * Returns a number in thousands, millions and so on, with one digit behind the point at most.
 * @example compact(12345) // '12.3K'
 */
export function compact(value: number): string {
  const unitOf = (power: number) => Math.max(0, Math.min(UNITS.length - 1, Math.floor(power / 3)));
  const first = unitOf(powerOf(value));
  const scaled = shifted(value, -3 * first);
  // 999,950 is a million when it is rounded.
  const isNext = first < UNITS.length - 1 && Math.round(shifted(Math.abs(scaled), 1)) >= 10_000;
  if (isNext) return `${withPlaces(shifted(scaled, -3), { most: 1 })}${UNITS[first + 1]}`;
  return `${withPlaces(scaled, { most: 1 })}${UNITS[first]}`;
}

/**
 * Returns a share of one in percent, with one digit behind the point at most.
 * @example inPercent(0.1234) // '12.3%'
 */
export function inPercent(share: number): string {
  return `${withPlaces(shifted(share, 2), { most: 1 })}%`;
}
