/** Bounds the exports of each organization: one whose client does not read holds a page of records, or of items, in memory. */
import { AssayError } from '#core/contracts/errors.ts';

/** Exports of one organization at a time, in one process: one more would take turns with queries of its own. */
const MAX_EXPORTS_OF_ONE = 2;

/**
 * Returns the function that counts an export of an organization and returns the function that ends it, to be called any number
 * of times.
 * @param what the exports, for sentences: `exports`
 * @throws AssayError too_many_exports
 */
export function createExportPlaces(what: string): (organizationId: string) => () => void {
  const underWay = new Map<string, number>();

  return (organizationId) => {
    const count = underWay.get(organizationId) ?? 0;
    if (count >= MAX_EXPORTS_OF_ONE) {
      throw new AssayError(
        'too_many_exports',
        `The organization has ${MAX_EXPORTS_OF_ONE} ${what} under way, which is the most: try again when one has ended`,
      );
    }
    underWay.set(organizationId, count + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const left = underWay.get(organizationId)! - 1;
      if (left === 0) underWay.delete(organizationId);
      else underWay.set(organizationId, left);
    };
  };
}
