/** `POST /v1/request/rows`: requests as a table shows them, in narrow columns and without bodies. */
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { PREVIEW_LENGTH } from '../chat/mod.ts';
import { filterOrQ } from './filter-or-q.ts';
import { MAX_PROPERTY_NAME_LENGTH, MAX_SCORE_KEY_LENGTH, QueryBody } from './query.ts';
import { closed, Nullable, Timestamp } from './shapes.ts';

/** Maximum rows of one page. */
export const MAX_ROWS = 200;
export const DEFAULT_ROWS = 50;
const MAX_COLUMNS = 60;
/** Maximum characters; cursors have some 150. */
const LONGEST_CURSOR = 1_000;
/** Characters of a text in a row; those of a property's value may be 10,000. */
export const LONGEST_ROW_TEXT = 1_000;

const Text = (description?: string) => Nullable(Type.String(), description);
const Whole = (description?: string) => Nullable(Type.Integer(), description);
const preview = (what: string) =>
  Text(`${what}, at most ${PREVIEW_LENGTH} characters; null when there is none or the body was omitted`);

/** The columns in a request's own row, in their order. */
const OWN_COLUMNS = {
  request_created_at: Timestamp,
  source: Type.String({
    description:
      'gateway; playground: called from the dashboard; api: logged by POST /v1/log/request; experiment: called for an experiment',
  }),
  request_path: Type.String(),
  provider: Type.String({ description: 'In upper case' }),
  model: Type.String({ description: 'The model that responded, else the requested one' }),
  request_model: Text(),
  response_model: Text(),
  response_id: Text(),
  response_created_at: Nullable(Timestamp),
  response_status: Type.Integer(),
  error_code: Text('A code of docs/api/errors.md when the gateway itself answered'),
  delay_ms: Whole('Milliseconds from the call to the last byte'),
  time_to_first_token: Whole('Milliseconds from the call to the first byte of a stream'),
  prompt_tokens: Whole(),
  completion_tokens: Whole(),
  total_tokens: Whole(),
  usage_estimated: Type.Boolean({ description: 'The tokens were counted here' }),
  cost: Nullable(Type.Number(), 'USD; null when the model has no known price'),
  is_stream: Type.Boolean(),
  truncated: Type.Boolean({ description: 'The answer ended early' }),
  cached_from: Text('The request whose stored response this one got'),
  api_key_id: Text(),
  request_user_id: Text(),
  session_id: Text(),
  session_name: Text(),
  session_path: Text(),
  prompt_id: Text(),
  prompt_version: Text(),
  experiment_id: Text(),
  feedback_rating: Nullable(Type.Boolean()),
  preview_in: preview('The beginning of the last user text'),
  preview_out: preview("The beginning of the assistant's text, else the names of the tools that it calls"),
} satisfies Record<string, TSchema>;

/** The columns that are looked up elsewhere. */
const OTHER_COLUMNS = {
  api_key_prefix: Text('The first characters of the API key'),
  scores: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()]),
  evaluations_pending: Type.Integer({ description: 'Evaluations that have no outcome yet' }),
} satisfies Record<string, TSchema>;

const COLUMNS = { ...OWN_COLUMNS, ...OTHER_COLUMNS };

/** The name of a column, except of those for one property or one score. */
export type RowColumn = keyof typeof COLUMNS;
export const ROW_COLUMNS = Object.keys(COLUMNS) as readonly RowColumn[];
/** The columns of a query that names none. */
export const DEFAULT_ROW_COLUMNS = Object.keys(OWN_COLUMNS) as readonly RowColumn[];

/** The beginnings of the other columns' names; the rest is a property's name, or the key of a score. */
export const PROPERTY_COLUMN = 'property:';
export const SCORE_COLUMN = 'score:';
const LONGEST_COLUMN = Math.max(MAX_PROPERTY_NAME_LENGTH, MAX_SCORE_KEY_LENGTH) + PROPERTY_COLUMN.length;

const { sort, isCached, isPartOfExperiment, isScored } = QueryBody.properties;
const Cursor = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: LONGEST_CURSOR, description }));

export const RowsBody = Type.Object(
  {
    ...filterOrQ,
    sort,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: `Default: ${DEFAULT_ROWS}` }),
    ),
    after: Cursor('The `next` of a page: the rows behind it'),
    before: Cursor('The `prev` of a page: the rows before it'),
    around: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'The id of a request: the rows around its place, half of them before it; or "newest": the rows around the newest request that passes the filter',
      }),
    ),
    columns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_COLUMN }), {
        minItems: 1,
        maxItems: MAX_COLUMNS,
        description:
          `Of ${ROW_COLUMNS.join(', ')}, property:<name> and score:<key>; request_id is always there. ` +
          `Default: all but ${Object.keys(OTHER_COLUMNS).join(', ')}, property:<name> and score:<key>`,
      }),
    ),
    isCached,
    isPartOfExperiment,
    isScored,
  },
  closed,
);
export type RowsBody = Static<typeof RowsBody>;

const Row = Type.Object(
  {
    request_id: Type.String(),
    ...(Type.Partial(Type.Object(COLUMNS)).properties as Record<string, TSchema>),
  },
  {
    additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Null()], {
      description:
        '`property:<name>`, a text, cut to 1,000 characters; `score:<key>`, a number; null when there is none',
    }),
    $id: 'RequestRow',
  },
);

/** A row with the columns that a query named. */
export type RequestRow = { request_id: string } & Partial<Static<TObject<typeof COLUMNS>>> & {
    [property: `property:${string}`]: string | null;
    [score: `score:${string}`]: number | null;
  };
/** A page of rows. */
export type RowPage = { rows: RequestRow[]; next: string | null; prev: string | null };

export const Rows = Type.Object(
  {
    rows: Type.Array(Row, { description: 'In the order of the sort; only the columns asked for' }),
    next: Text('The cursor of the rows behind these; null at the end'),
    prev: Text('The cursor of the rows before these; null at the beginning'),
  },
  closed,
);
