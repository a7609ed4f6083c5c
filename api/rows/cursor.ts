/** Cursors of rows: a place in the order of a sort, as an opaque text. */
import { Buffer } from 'node:buffer';
import { type Static, Type } from '@sinclair/typebox';
import { Compile } from '#core/contracts/check.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { SORT_FIELDS } from '#core/contracts/query.ts';
import { OneOf } from '#core/contracts/shapes.ts';
import { EARLIEST_MS, LATEST_MS } from '#core/filter/mod.ts';
import type { Position, RequestQuery } from '../requests/mod.ts';

type Sort = RequestQuery['sort'];

const INT8 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** The sort; the value as a whole number, null where there is none; the time; the id; whether it is included. */
const Parts = Type.Tuple([
  OneOf(SORT_FIELDS),
  OneOf(['asc', 'desc']),
  Type.Union([Type.String({ pattern: '^-?[0-9]{1,19}$' }), Type.Null()]),
  Type.Integer({ minimum: EARLIEST_MS, maximum: LATEST_MS }),
  // Only text that Postgres can hold: no U+0000 and no lone surrogate.
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000\\ud800-\\udfff]+$' }),
  Type.Boolean(),
]);
const checker = Compile(Parts);

/** Returns the cursor of a position in a sort. */
export function cursorOf({ field, direction }: Sort, { key, isIncluded }: Position): string {
  const parts = [field, direction, key.value, key.created_at.getTime(), key.request_id, isIncluded];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function parse(cursor: string): Static<typeof Parts> | null {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    const parts: unknown = JSON.parse(bytes.toString('utf8'));
    if (!checker.Check(parts)) return null;
    const [field, , value] = parts;
    if (value === null) return parts;
    const number = BigInt(value);
    return field !== 'created_at' && number >= INT8.min && number <= INT8.max ? parts : null;
  } catch {
    return null;
  }
}

/**
 * Returns the position of a cursor.
 * @throws AssayError invalid_body for a text that is no cursor, or one of another sort
 */
export function readCursor(name: 'after' | 'before', cursor: string, sort: Sort): Position {
  const parts = parse(cursor);
  if (parts === null) throw invalidField(name, 'must be the `next` or `prev` of an answer of this path');
  const [field, direction, value, ms, requestId, isIncluded] = parts;
  if (field !== sort.field || direction !== sort.direction) {
    throw invalidField(
      name,
      `must be a cursor of the same sort, but is one of ${field} ${direction}, and the sort is ${sort.field} ${sort.direction}`,
    );
  }
  return { key: { created_at: new Date(ms), request_id: requestId, value }, isIncluded };
}
