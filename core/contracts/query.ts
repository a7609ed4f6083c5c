import { type Static, Type } from '@sinclair/typebox';
import { type Checker, Compile } from './check.ts';

export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 10;
export const MAX_REQUEST_IDS = 1_000;

/** What a query can be sorted by. */
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

const closed = { additionalProperties: false };
const Direction = Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')]));
const Flag = Type.Optional(Type.Boolean());

/** One field and its direction. */
export const Sort = Type.Object(
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

/** The body of a query. The filter's own rules are those of core/filter: a schema cannot say what is wrong in a tree. */
export const QueryBody = Type.Object(
  {
    filter: Type.Unknown(),
    /** Records to skip. */
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT })),
    sort: Type.Optional(Sort),
    /** True restricts to answers from the cache; false or absent does not restrict. So with the next two. */
    isCached: Flag,
    isPartOfExperiment: Flag,
    isScored: Flag,
    /** Adds the prompt variables to each record. */
    includeInputs: Flag,
  },
  closed,
);
export type QueryBody = Static<typeof QueryBody>;

/** The body of a look-up by ids. */
export const QueryIdsBody = Type.Object(
  { requestIds: Type.Array(Type.String({ maxLength: 200 }), { maxItems: MAX_REQUEST_IDS }) },
  closed,
);
export type QueryIdsBody = Static<typeof QueryIdsBody>;

export const FeedbackBody = Type.Object({ rating: Type.Boolean() }, closed);
export type FeedbackBody = Static<typeof FeedbackBody>;

/** In one call. */
export const MAX_SCORES = 100;
export const MAX_SCORE_KEY_LENGTH = 100;

/** Score keys to numbers; true is 1 and false is 0. From one to MAX_SCORES of them. */
export const ScoreBody = Type.Object(
  {
    scores: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Boolean()])),
  },
  closed,
);
export type ScoreBody = Static<typeof ScoreBody>;

export const MAX_PROPERTY_NAME_LENGTH = 200;
export const MAX_PROPERTY_VALUE_LENGTH = 10_000;
/** Of one request, those it was sent with counted in. */
export const MAX_PROPERTIES = 100;

export const PropertyBody = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: MAX_PROPERTY_NAME_LENGTH }),
    value: Type.String({ maxLength: MAX_PROPERTY_VALUE_LENGTH }),
  },
  closed,
);
export type PropertyBody = Static<typeof PropertyBody>;

export const queryBodyChecker: Checker<typeof QueryBody> = Compile(QueryBody);
export const queryIdsBodyChecker: Checker<typeof QueryIdsBody> = Compile(QueryIdsBody);
export const feedbackBodyChecker: Checker<typeof FeedbackBody> = Compile(FeedbackBody);
export const scoreBodyChecker: Checker<typeof ScoreBody> = Compile(ScoreBody);
export const propertyBodyChecker: Checker<typeof PropertyBody> = Compile(PropertyBody);
