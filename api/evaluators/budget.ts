/** Money of evaluators: USD at the edge, whole nano-dollars inside. */

import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { nanoToUsd } from '../requests/mod.ts';

/** More than anybody's judges cost a day; within what a number holds to the nano-dollar. */
const MAX_BUDGET_USD = 1_000_000;
const NANO = 1e9;

/**
 * Reads `daily_budget_usd`.
 * @returns nano-dollars; null: no limit
 * @throws AssayError invalid_body
 */
export function readBudget(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number') {
    throw invalid(`must be a number or null, but is ${quoteValue(value)}`);
  }
  if (!(value >= 0 && value <= MAX_BUDGET_USD)) {
    throw invalid(`must be from 0 to ${MAX_BUDGET_USD}, but is ${value}`);
  }
  const nano = Math.round(value * NANO) + 0;
  if (nanoToUsd(String(nano)) !== value + 0) throw invalid(`must have at most 9 decimals, but is ${value}`);
  return nano;
}

/** A column of nano-dollars as USD. */
export function usdOrNull(nano: string | null): number | null {
  return nano === null ? null : nanoToUsd(nano);
}

function invalid(problem: string): AssayError {
  return new AssayError('invalid_body', `daily_budget_usd ${problem}`);
}
