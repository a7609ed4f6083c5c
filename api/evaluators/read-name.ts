import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { MAX_EVALUATOR_NAME_LENGTH } from '#core/contracts/evaluator.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { scoreKeyOf } from '#core/evaluations/mod.ts';

/**
 * Reads an evaluator's name, and the key that its scores are stored by.
 * @throws AssayError invalid_body
 */
export function readName(name: string): { name: string; scoreKey: string } {
  const length = [...name].length;
  if (length < 1 || length > MAX_EVALUATOR_NAME_LENGTH) {
    throw new AssayError(
      'invalid_body',
      `name must have 1 to ${MAX_EVALUATOR_NAME_LENGTH} characters, but has ${length}`,
    );
  }
  const stored = storableText(name);
  const scoreKey = scoreKeyOf(stored);
  if (scoreKey !== '') return { name: stored, scoreKey };
  throw new AssayError(
    'invalid_body',
    `name must hold a letter or a digit, as its scores are stored by those, but is ${quoteValue(name)}`,
  );
}
