/** Sessions: the bodies of `/v1/session…` and what they answer. */
import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** Rows of one page. */
const MAX_SESSIONS = 1_000;
export const DEFAULT_SESSIONS = 50;
/** Requests of one answer of a tree: the JSON of more would hold up other calls while it is written. */
export const MAX_TREE_REQUESTS = 5_000;
/** Turns of one page of a conversation, whose bodies are read and compared. */
export const MAX_TURNS = 100;
export const DEFAULT_TURNS = 20;

const LATEST_MS = 253_402_300_799_999;
const MAX_SEARCH_LENGTH = 1_000;
const MAX_TAG_LENGTH = 200;

const UnixMs = Type.Integer({ minimum: 0, maximum: LATEST_MS });
const TimeFilter = Type.Object(
  { startTimeUnixMs: UnixMs, endTimeUnixMs: UnixMs },
  {
    ...closed,
    description: 'Requests from the start up to, without, the end, in milliseconds; absent: of all times',
  },
);

/** The members that all queries of sessions take. */
const common = {
  timeFilter: Type.Optional(TimeFilter),
  ...filterOrQ,
  timezoneDifference: Type.Optional(
    Type.Number({ description: 'Accepted for clients that send it; times are UTC' }),
  ),
};
const paging = {
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Rows to skip' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_SESSIONS, description: `Default: ${DEFAULT_SESSIONS}` }),
  ),
};
const searchFor = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_SEARCH_LENGTH, description }));
/** How a distribution is drawn, as clients of this kind ask for it. */
const drawing = {
  pSize: Type.Optional(OneOf(['p50', 'p75', 'p95', 'p99', 'p99.9'] as const)),
  useInterquartile: Type.Optional(Type.Boolean()),
};

export const SessionQueryBody = Type.Object(
  {
    ...common,
    ...paging,
    search: searchFor('A text in the id or in a name, ignoring case'),
    nameEquals: searchFor('A name that the session has, or has had'),
  },
  closed,
);
export type SessionQueryBody = Static<typeof SessionQueryBody>;

export const SessionNameQueryBody = Type.Object(
  { ...common, ...paging, ...drawing, nameContains: searchFor('A text in the name, ignoring case') },
  closed,
);
export type SessionNameQueryBody = Static<typeof SessionNameQueryBody>;

export const SessionMetricsQueryBody = Type.Object(
  {
    ...common,
    ...drawing,
    nameContains: searchFor('A text in a name of the session, ignoring case'),
  },
  closed,
);
export type SessionMetricsQueryBody = Static<typeof SessionMetricsQueryBody>;

const Usd = Nullable(Type.Number(), 'USD: the sum of the known costs; null when none is known');
const Milliseconds = Nullable(Type.Number(), 'Milliseconds');

/** A session; its totals are of the requests inside the query's time and filter. */
export const SessionRow = Type.Object(
  {
    session_id: Type.String(),
    session_name: Nullable(Type.String(), 'Its newest name'),
    created_at: Timestamp,
    latest_request_created_at: Timestamp,
    total_requests: Type.Integer(),
    total_cost: Usd,
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    avg_latency: Milliseconds,
    feedback_rating: Nullable(Type.Boolean()),
    tag: Nullable(Type.String()),
    scores: Type.Record(Type.String(), Type.Number(), {
      description: 'By evaluators of sessions: of each the newest score, by its score key',
    }),
  },
  { ...closed, $id: 'Session' },
);
export type SessionRow = Static<typeof SessionRow>;

export const SessionNameRow = Type.Object(
  {
    name: Type.String(),
    created_at: Timestamp,
    first_used: Timestamp,
    last_used: Timestamp,
    session_count: Type.Integer(),
    avg_latency: Milliseconds,
  },
  closed,
);
export type SessionNameRow = Static<typeof SessionNameRow>;

/** One bar of a histogram. */
const HistogramRow = Type.Object(
  {
    range_start: Type.Number({ description: 'In the bar' }),
    range_end: Type.Number({ description: 'No longer in the bar' }),
    value: Type.Integer({ description: 'Sessions' }),
  },
  { ...closed, $id: 'HistogramRow' },
);
const Average = Type.Array(Type.Object({ average: Nullable(Type.Number()) }, closed));
const Summary = Type.Object(
  {
    count: Type.Integer({ description: 'Sessions that have a value' }),
    mean: Nullable(Type.Number()),
    p50: Nullable(Type.Number()),
    p90: Nullable(Type.Number()),
    p99: Nullable(Type.Number()),
  },
  { ...closed, $id: 'SessionSummary' },
);

/** Distributions over sessions: requests, seconds from the first request to the latest, USD. */
export const SessionMetrics = Type.Object(
  {
    session_count: Type.Array(HistogramRow, { description: 'Of the requests in a session' }),
    session_duration: Type.Array(HistogramRow, {
      description: 'Of the seconds between its first and its latest request',
    }),
    session_cost: Type.Array(HistogramRow, { description: 'Of its cost in USD' }),
    average: Type.Object(
      { session_count: Average, session_duration: Average, session_cost: Average },
      closed,
    ),
    summary: Type.Object(
      { session_count: Summary, session_duration: Summary, session_cost: Summary },
      closed,
    ),
    exact: Type.Boolean({
      description: 'False: percentiles are cut to three digits, so up to one per cent too small',
    }),
  },
  closed,
);
export type SessionMetrics = Static<typeof SessionMetrics>;

const Whole = Nullable(Type.Integer());
const Text = Nullable(Type.String());

/** A request in a session's tree. */
export const SessionRequest = Type.Object(
  {
    request_id: Type.String(),
    session_path: Nullable(Type.String(), 'As sent'),
    created_at: Timestamp,
    response_created_at: Nullable(Timestamp),
    delay_ms: Whole,
    time_to_first_token: Whole,
    status: Type.Integer(),
    provider: Type.String(),
    model: Type.String(),
    prompt_tokens: Whole,
    completion_tokens: Whole,
    total_tokens: Whole,
    cost: Nullable(Type.Number(), 'USD; null when the model has no known price'),
    user_id: Text,
    scores: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()]),
    feedback_rating: Nullable(Type.Boolean()),
  },
  { ...closed, $id: 'SessionRequest' },
);
export type SessionRequest = Static<typeof SessionRequest>;

/** A place in a session's tree; its totals are of its own requests in this answer and of those below it. */
export const SessionNode = Type.Recursive(
  (This) =>
    Type.Object(
      {
        name: Type.String({ description: 'The last part of the path; empty at the root' }),
        path: Type.String(),
        total_requests: Type.Integer(),
        total_tokens: Type.Integer(),
        total_cost: Usd,
        requests: Type.Array(SessionRequest),
        children: Type.Array(This),
      },
      closed,
    ),
  { $id: 'SessionNode' },
);
export type SessionNode = Static<typeof SessionNode>;

const Next = Nullable(Type.String(), 'Send it as `after` for what follows; null at the end');
export const SessionTree = Type.Object({ session: SessionRow, tree: SessionNode, next: Next }, closed);
export type SessionTree = Static<typeof SessionTree>;

const AnyMessage = Type.Unknown({ description: 'As it was sent' });

/** What one request of a session adds to the conversation of its path. */
export const Turn = Type.Object(
  {
    request_id: Type.String(),
    session_path: Text,
    created_at: Timestamp,
    status: Type.Integer(),
    model: Type.String(),
    seen_messages: Type.Integer({ description: 'Messages at its beginning that an earlier turn has shown' }),
    messages: Type.Array(AnyMessage, { description: 'The messages after those' }),
    answer: Type.Unknown({ description: "The answer's message; null when there is none" }),
    is_too_large: Type.Boolean({
      description: 'The bodies have more than 1 MiB or 20,000 values: GET /v1/request/{id} has them',
    }),
  },
  { ...closed, $id: 'SessionTurn' },
);
export type Turn = Static<typeof Turn>;

export const Conversation = Type.Object({ turns: Type.Array(Turn), next: Next }, closed);
export type Conversation = Static<typeof Conversation>;

const pageParameters = (most: number, usual: number) =>
  Type.Object(
    {
      after: Type.Optional(Type.String({ maxLength: 2_000, description: '`next` of the answer before' })),
      limit: Type.Optional(
        Type.String({
          pattern: '^[1-9][0-9]{0,8}$',
          rule: 'must be a whole number from 1',
          description: `1 to ${most}; default: ${usual}`,
        }),
      ),
    },
    closed,
  );
export const TreeParameters = pageParameters(MAX_TREE_REQUESTS, MAX_TREE_REQUESTS);
export const ConversationParameters = pageParameters(MAX_TURNS, DEFAULT_TURNS);
export type PageParameters = Static<typeof TreeParameters>;

/** A rating of a session; null takes it back. */
export const SessionFeedbackBody = Type.Object({ rating: Nullable(Type.Boolean()) }, closed);
export type SessionFeedbackBody = Static<typeof SessionFeedbackBody>;

/** The tag of a session; null takes it away. */
export const SessionTagBody = Type.Object(
  { tag: Nullable(Type.String({ minLength: 1, maxLength: MAX_TAG_LENGTH })) },
  closed,
);
export type SessionTagBody = Static<typeof SessionTagBody>;
