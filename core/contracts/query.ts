import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { closed, OneOf } from './shapes.ts';

/** Records of one page. */
export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 10;
const MAX_REQUEST_IDS = 1_000;

/** The fields that a query can be sorted by. */
export const SORT_FIELDS = [
  'created_at',
  'latency',
  'cost',
  'tokens',
  'prompt_tokens',
  'completion_tokens',
  'time_to_first_token',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** Returns the schema of a record's names: any text of 1 to `most` characters. `.` would not match line breaks. */
export const nameOf = (most: number) => Type.String({ pattern: `^[\\s\\S]{1,${most}}$` });
/** Returns the options of a record with such names. */
export const named = (most: number) => ({
  ...closed,
  nameRule: `must have a name of 1 to ${most} characters`,
});

const Direction = Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')]));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** The order of records: one field and its direction. Default: newest first. */
const Sort = Type.Object(
  {
    created_at: Direction,
    latency: Direction,
    cost: Direction,
    tokens: Direction,
    prompt_tokens: Direction,
    completion_tokens: Direction,
    time_to_first_token: Direction,
  } satisfies Record<SortField, unknown>,
  { ...closed, minProperties: 1, maxProperties: 1 },
);

/** The body of a query. */
export const QueryBody = Type.Object(
  {
    ...filterOrQ,
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Records to skip' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: `Default: ${DEFAULT_LIMIT}` }),
    ),
    sort: Type.Optional(Sort),
    isCached: flag('True: only those that were answered from the cache; false or absent: all'),
    isPartOfExperiment: flag('True: only those of an experiment'),
    isScored: flag('True: only those that have a score'),
    includeInputs: flag('Adds the prompt variables to each record'),
    includeExpected: flag('Adds to each record what its answer should have been'),
  },
  closed,
);
export type QueryBody = Static<typeof QueryBody>;

/** The parameters of one record's address. */
export const RecordParameters = Type.Object(
  { includeExpected: Type.Optional(OneOf(['true', 'false'])) },
  closed,
);

/** Largest number at which a count can stop: beyond it, an exact count takes no longer. */
const MAX_AT_MOST = 1_000_000;

/** The body of a count: that of a query, of which the order and the page have no effect. */
export const CountBody = Type.Object(
  {
    ...QueryBody.properties,
    atMost: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_AT_MOST,
        description:
          'Stops counting there; the answer is then an object. 10,001 answers "more than 10,000" in milliseconds',
      }),
    ),
  },
  closed,
);
export type CountBody = Static<typeof CountBody>;

/** The number of requests; with `atMost`, whether there are at least so many instead of exactly so many. */
export const RequestCount = Type.Union([
  Type.Integer({ description: 'Without atMost' }),
  Type.Object(
    {
      count: Type.Integer(),
      atLeast: Type.Boolean({ description: 'True: counting stopped at atMost, and there may be more' }),
    },
    { ...closed, description: 'With atMost' },
  ),
]);
export type RequestCount = Static<typeof RequestCount>;

/** The body of a look-up by ids. */
export const QueryIdsBody = Type.Object(
  { requestIds: Type.Array(Type.String({ maxLength: 200 }), { maxItems: MAX_REQUEST_IDS }) },
  closed,
);
export type QueryIdsBody = Static<typeof QueryIdsBody>;

/** The body of a feedback: true is a good rating. */
export const FeedbackBody = Type.Object({ rating: Type.Boolean() }, closed);
export type FeedbackBody = Static<typeof FeedbackBody>;

/** Scores in one call. */
const MAX_SCORES = 100;
export const MAX_SCORE_KEY_LENGTH = 100;

/** Scores by key: 1 to MAX_SCORES numbers; true is 1 and false is 0. */
export const ScoreBody = Type.Object(
  {
    scores: Type.Record(nameOf(MAX_SCORE_KEY_LENGTH), Type.Union([Type.Number(), Type.Boolean()]), {
      ...named(MAX_SCORE_KEY_LENGTH),
      minProperties: 1,
      maxProperties: MAX_SCORES,
    }),
  },
  closed,
);
export type ScoreBody = Static<typeof ScoreBody>;

/** Characters. */
export const MAX_PROPERTY_NAME_LENGTH = 200;
export const MAX_PROPERTY_VALUE_LENGTH = 10_000;
/** Properties of one request, including those sent with it. */
export const MAX_PROPERTIES = 100;

/** The body that adds a property to a request, or replaces one. */
export const PropertyBody = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: MAX_PROPERTY_NAME_LENGTH }),
    value: Type.String({ maxLength: MAX_PROPERTY_VALUE_LENGTH }),
  },
  closed,
);
export type PropertyBody = Static<typeof PropertyBody>;
