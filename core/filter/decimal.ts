/** The whole numbers around a number, exactly. */
export type Bounds = {
  floor: bigint;
  ceil: bigint;
};

/**
 * Returns the whole numbers just below and above `value * 10 ** scale`; both are the same when it is whole. Reads the
 * decimal text of `value`, the number as it was written: 0.1 USD is exactly 100,000,000 nano-dollars.
 *
 * @param value finite
 */
export function wholeBounds(value: number, scale: number): Bounds {
  const [digits = '0', exponentText = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = digits.split('.');
  const exponent = Number(exponentText) + scale - fraction.length;
  const unscaled = BigInt(whole + fraction);
  if (exponent >= 0) {
    const exact = unscaled * 10n ** BigInt(exponent) * (value < 0 ? -1n : 1n);
    return { floor: exact, ceil: exact };
  }
  const divisor = 10n ** BigInt(-exponent);
  const quotient = unscaled / divisor;
  const up = unscaled % divisor === 0n ? quotient : quotient + 1n;
  return value < 0 ? { floor: -up, ceil: -quotient } : { floor: quotient, ceil: up };
}
