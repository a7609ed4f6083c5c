import { isObject } from '#core/json/mod.ts';
import { statusOfErrorType } from '../providers/anthropic/mod.ts';

/**
 * The status that an error in the middle of a stream would have had as an answer, by what providers say of it: a number
 * (OpenRouter), or the error's type. Null: there is none.
 */
export function toldStatus(error: unknown): number | null {
  if (!isObject(error)) return null;
  for (const told of [error.code, error.status]) {
    const status = Number(told);
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return statusOfErrorType(typeof error.type === 'string' ? error.type : '');
}
