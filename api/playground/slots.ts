/**
 * Bounds the calls of the playground that are under way. None waits for another to end: a call may last for minutes, and its
 * body would be held in memory meanwhile.
 */
import { AssayError } from '#core/contracts/errors.ts';

/** Calls of one organization at a time: four people who each send to four models. */
const MAX_CALLS_OF_ONE = 16;

/**
 * Returns the function that counts a call of an organization and returns the function that ends it, to be called any number
 * of times.
 * @throws AssayError too_many_playground_calls: the organization has too many under way; playground_busy: all have
 */
export function createCallSlots(maxCalls: number): (organizationId: string) => () => void {
  const underWay = new Map<string, number>();
  let total = 0;

  return (organizationId) => {
    const own = underWay.get(organizationId) ?? 0;
    if (own >= MAX_CALLS_OF_ONE) {
      throw new AssayError(
        'too_many_playground_calls',
        `The organization has ${MAX_CALLS_OF_ONE} calls of the playground under way, which is the most: try again when one has ended`,
      );
    }
    if (total >= maxCalls) {
      throw new AssayError(
        'playground_busy',
        'The playground of this API has as many calls under way as it can make: try again when some have ended',
      );
    }
    underWay.set(organizationId, own + 1);
    total += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      total -= 1;
      const left = underWay.get(organizationId)! - 1;
      if (left === 0) underWay.delete(organizationId);
      else underWay.set(organizationId, left);
    };
  };
}
