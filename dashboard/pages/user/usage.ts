/** Counters of limits as a user's page shows them. Pure. */
import type { UsageJson } from '#core/contracts/limit-usage.ts';
import { count, decimal, dollars, milliseconds } from '../../parts/formats/numbers.ts';

/** @example amountOf({ unit: 'cents' }, 50) // '$0.50' */
export function amountOf({ unit }: Pick<UsageJson, 'unit'>, amount: number): string {
  if (unit === 'cents') return dollars(amount / 100);
  return Number.isInteger(amount) ? count(amount) : decimal(amount);
}

/** @example windowName({ unit: 'request', window_seconds: 60, … }) // 'Requests in 1 min 0 s' */
export function windowName({
  unit,
  window_seconds: seconds,
}: Pick<UsageJson, 'unit' | 'window_seconds'>): string {
  const names = { request: 'Requests', cents: 'Cost', log: 'Logs' };
  return `${names[unit]} in ${milliseconds(seconds * 1_000)}`;
}
