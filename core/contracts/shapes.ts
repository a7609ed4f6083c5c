/** Parts that several contracts' schemas share. */
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

/** The options of an object that allows only the fields it names. */
export const closed = { additionalProperties: false } as const;

/** Returns the schema of `type` or null. */
export function Nullable<T extends TSchema>(type: T, description?: string): TUnsafe<Static<T> | null> {
  const options = description === undefined ? {} : { description };
  return Type.Unsafe<Static<T> | null>(Type.Union([type, Type.Null()], options));
}

/** Returns the schema of one of these texts. */
export function OneOf<Text extends string>(texts: readonly Text[]): TUnsafe<Text> {
  return Type.Unsafe<Text>(Type.Union(texts.map((text) => Type.Literal(text))));
}

/** A time in a reply: RFC 3339, UTC, with milliseconds. */
export const Timestamp = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'RFC 3339, UTC, with milliseconds',
});
