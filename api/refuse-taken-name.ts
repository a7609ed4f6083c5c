import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';

/**
 * Refuses a name that another has.
 * @param takenBy the id of what has the name; undefined: nothing has it
 * @param ownId the id of what is to be named; null: it is new
 * @throws AssayError conflict
 */
export function refuseTakenName(
  what: string,
  name: string,
  takenBy: string | undefined,
  ownId: string | null,
): void {
  if (takenBy === undefined || takenBy === ownId) return;
  throw new AssayError('conflict', `There is a ${what} named ${quoteValue(name)} already: ${takenBy}`);
}
