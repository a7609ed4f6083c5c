/** The names that requests carry: properties and their values, and keys of scores. */
import { type Static, Type } from '@sinclair/typebox';
import { MAX_PROPERTY_VALUE_LENGTH } from './query.ts';
import { closed } from './shapes.ts';

/** The body of a list of properties. */
export const PropertyQueryBody = Type.Object({}, closed);

/** A property's name, as clients of this endpoint read it. */
export const PropertyName = Type.Object({ property: Type.String() }, { ...closed, $id: 'PropertyName' });
export type PropertyName = Static<typeof PropertyName>;

/** The body of a search for values of a property. */
export const PropertySearchBody = Type.Object(
  {
    searchTerm: Type.String({
      maxLength: MAX_PROPERTY_VALUE_LENGTH,
      description: 'A part of the value, ignoring case; empty for all',
    }),
  },
  closed,
);
export type PropertySearchBody = Static<typeof PropertySearchBody>;

/** A key of scores, with what its scores are. */
export const ScoreKey = Type.Object(
  {
    key: Type.String(),
    count: Type.Integer({ description: 'Requests that have it' }),
    min: Type.Number(),
    max: Type.Number(),
  },
  { ...closed, $id: 'ScoreKey' },
);
export type ScoreKey = Static<typeof ScoreKey>;
