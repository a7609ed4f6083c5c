/** Ids in paths and bodies. A text that cannot be an id is as unknown as an id that does not exist. */

import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { isUuid } from '#platform/process/ids.ts';

/** Within a bigint. */
const WHOLE = /^[1-9]\d{0,17}$/;

/** Returns the failure for an unknown id. */
export function unknown(what: string, id: string): AssayError {
  return new AssayError('not_found', `There is no ${what} with the id ${quoteValue(id)}`);
}

/**
 * Returns a UUID in lower case.
 * @throws AssayError not_found
 */
export function readUuid(what: string, id: string): string {
  if (!isUuid(id)) throw unknown(what, id);
  return id.toLowerCase();
}

/**
 * Returns the id of a bigint column.
 * @throws AssayError not_found
 */
export function readWholeId(what: string, id: string): string {
  if (!WHOLE.test(id)) throw unknown(what, id);
  return id;
}
