/** Ids in paths and bodies: what cannot be one is as unknown as one that nobody has. */

import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Within a bigint. */
const WHOLE = /^[1-9]\d{0,17}$/;

/** The refusal of an id that is unknown here. */
export function unknown(what: string, id: string): AssayError {
  return new AssayError('not_found', `There is no ${what} with the id ${quoteValue(id)}`);
}

/** Whether Postgres can compare it with a uuid. */
export function isUuid(id: string): boolean {
  return UUID.test(id);
}

/** @throws AssayError not_found */
export function readUuid(what: string, id: string): string {
  if (!isUuid(id)) throw unknown(what, id);
  return id.toLowerCase();
}

/** @throws AssayError not_found */
export function readWholeId(what: string, id: string): string {
  if (!WHOLE.test(id)) throw unknown(what, id);
  return id;
}
