const NANO_DIGITS = 9;

/**
 * Nano-dollars (a whole number as text) as USD. By moving the point, not by dividing: the result is the number nearest
 * to the decimal, which a division may miss by its last digit.
 */
export function nanoToUsd(nanoDollars: string): number {
  const isNegative = nanoDollars.startsWith('-');
  const digits = nanoDollars.slice(isNegative ? 1 : 0).padStart(NANO_DIGITS + 1, '0');
  const usd = Number(`${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`);
  return isNegative ? -usd : usd;
}
