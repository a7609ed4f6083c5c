/** Facets: the body of `/v1/request/facets` and its response. */
import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { DIMENSIONS, type DimensionName, nameOrOpen, OPEN_DIMENSION, Sources, TimeRange } from './metrics.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

const MAX_FACETS = 1_000;
export const DEFAULT_FACETS = 20;
const MAX_SEARCH_LENGTH = 1_000;

type FacetField = Exclude<DimensionName, 'evaluator'> | `property:${string}`;
const FIELDS = DIMENSIONS.filter((name) => name !== 'evaluator');

/** The body of a query for the values of a field. */
export const FacetsBody = Type.Object(
  {
    field: nameOrOpen<FacetField>(FIELDS, ...OPEN_DIMENSION),
    ...filterOrQ,
    sources: Type.Optional(Sources),
    range: Type.Optional(TimeRange),
    search: Type.Optional(
      Type.String({ maxLength: MAX_SEARCH_LENGTH, description: 'A text in the value, ignoring case' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_FACETS, description: `Values. Default: ${DEFAULT_FACETS}` }),
    ),
  },
  closed,
);
export type FacetsBody = Static<typeof FacetsBody>;

const Facet = Type.Object(
  {
    value: Type.Unsafe<string | number | null>(Nullable(Type.Union([Type.String(), Type.Integer()]))),
    count: Type.Integer(),
  },
  closed,
);

/** The values of a field. */
export const Facets = Type.Object(
  {
    values: Type.Array(Facet, { description: 'The commonest first; null: the requests that have none' }),
    approximate: Type.Boolean({
      description: 'True when the newest requests alone were counted: older ones may have other values',
    }),
    source: OneOf(['rows', 'rollup'] as const),
    asOf: Timestamp,
  },
  closed,
);
export type Facets = Static<typeof Facets>;
