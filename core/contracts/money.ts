/** Money: USD at the edge, whole nano-dollars inside. */
const NANO_DIGITS = 9;
const NANO = 1e9;

/**
 * Returns nano-dollars (a whole number as text) as USD. It moves the point instead of dividing: the result is the number
 * nearest to the decimal, which a division may miss by its last digit.
 */
export function nanoToUsd(nanoDollars: string): number {
  const isNegative = nanoDollars.startsWith('-');
  const digits = nanoDollars.slice(isNegative ? 1 : 0).padStart(NANO_DIGITS + 1, '0');
  const usd = Number(`${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`);
  return isNegative ? -usd : usd;
}

/** Returns a column of nano-dollars as USD. */
export function usdOrNull(nanoDollars: string | null): number | null {
  return nanoDollars === null ? null : nanoToUsd(nanoDollars);
}

/** Returns USD as nano-dollars; null when it has more than nine decimals. */
export function usdToNano(usd: number): number | null {
  const nano = Math.round(usd * NANO) + 0;
  return nanoToUsd(String(nano)) === usd + 0 ? nano : null;
}
