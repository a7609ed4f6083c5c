/** Errors that providers tell of in the middle of a stream. */
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

const ERROR_MEMBER = '"error"';
const [SPACE, COLON, N] = [0x20, 0x3a, 0x6e];

/**
 * Whether an event may tell of one: something stands behind `"error"` that is not null. Looks at bytes, and errs on the
 * side of yes. The text that a model writes has its quotes escaped, so that it does not count.
 */
export function mayTellError(frame: Buffer): boolean {
  for (let at = frame.indexOf(ERROR_MEMBER); at !== -1; at = frame.indexOf(ERROR_MEMBER, at + 1)) {
    let value = at + ERROR_MEMBER.length;
    while (frame[value] === SPACE || frame[value] === COLON) value += 1;
    if (frame[value] !== N) return true;
  }
  return false;
}
