import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** Users of one page. */
const MAX_USERS = 1_000;
export const DEFAULT_USERS = 100;
/** Characters; longer ids are stored cut, to 500. */
const MAX_USER_ID_LENGTH = 10_000;
/** The last second of the year 9999. */
const LATEST_SECOND = 253_402_300_799;
/** Minutes: the widest difference of a time zone from UTC. */
const MAX_ZONE_MINUTES = 14 * 60;

const Seconds = Type.Number({ minimum: 0, maximum: LATEST_SECOND, description: 'Seconds since the epoch' });

/** A time span: from its start up to, but not including, its end. */
const SecondsFilter = Type.Object(
  { startTimeUnixSeconds: Seconds, endTimeUnixSeconds: Seconds },
  { ...closed, description: 'From the start up to, but not including, the end' },
);
export type SecondsFilter = Static<typeof SecondsFilter>;

const page = {
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Users to skip' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_USERS, description: `Default: ${DEFAULT_USERS}` }),
  ),
};

/** The body of a query for users' totals. */
export const UserQueryBody = Type.Object(
  {
    userIds: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_USER_ID_LENGTH }), {
        minItems: 1,
        maxItems: MAX_USERS,
        description: 'Absent: all users',
      }),
    ),
    timeFilter: Type.Optional(SecondsFilter),
    ...page,
  },
  closed,
);
export type UserQueryBody = Static<typeof UserQueryBody>;

const Cost = Nullable(
  Type.Number(),
  'USD, of the requests with a known price; null: there are tokens, and no request has one. Sorted last in both directions',
);
const Tokens = Type.Integer({ description: 'Requests whose tokens are unknown count as 0' });

/** The totals of one user. */
export const UserTotals = Type.Object(
  {
    user_id: Type.String(),
    count: Type.Integer({ description: 'Requests' }),
    prompt_tokens: Tokens,
    completion_tokens: Tokens,
    cost: Cost,
  },
  { ...closed, $id: 'UserTotals' },
);
export type UserTotals = Static<typeof UserTotals>;

/** The metrics of one user, by which users can be sorted. */
export const UserMetrics = Type.Object(
  {
    user_id: Type.String(),
    active_for: Type.Integer({ description: 'Days with a request' }),
    first_active: Timestamp,
    last_active: Timestamp,
    total_requests: Type.Integer(),
    average_requests_per_day_active: Type.Number(),
    average_tokens_per_request: Type.Number(),
    total_completion_tokens: Tokens,
    total_prompt_tokens: Tokens,
    cost: Cost,
  },
  { ...closed, $id: 'UserMetrics' },
);
export type UserMetrics = Static<typeof UserMetrics>;
export type UserMetric = keyof UserMetrics;

const Direction = Type.Optional(OneOf(['asc', 'desc']));

/** The body of a query for users' metrics. */
export const UserMetricsBody = Type.Object(
  {
    ...filterOrQ,
    timeFilter: Type.Optional(SecondsFilter),
    timeZoneDifferenceMinutes: Type.Optional(
      Type.Integer({
        minimum: -MAX_ZONE_MINUTES,
        maximum: MAX_ZONE_MINUTES,
        description: 'UTC less local time, as getTimezoneOffset() returns it: where days begin. Default: 0',
      }),
    ),
    sort: Type.Optional(
      Type.Object(
        {
          user_id: Direction,
          active_for: Direction,
          first_active: Direction,
          last_active: Direction,
          total_requests: Direction,
          average_requests_per_day_active: Direction,
          average_tokens_per_request: Direction,
          total_completion_tokens: Direction,
          total_prompt_tokens: Direction,
          cost: Direction,
        } satisfies Record<UserMetric, unknown>,
        { ...closed, minProperties: 1, maxProperties: 1, description: 'Default: last_active, desc' },
      ),
    ),
    ...page,
  },
  closed,
);
export type UserMetricsBody = Static<typeof UserMetricsBody>;

/** A page of users with their metrics. */
export const UserMetricsPage = Type.Object(
  {
    users: Type.Array(UserMetrics),
    count: Type.Integer({ description: 'Users of all pages' }),
    hasUsers: Type.Boolean({ description: 'Whether any request of the organization names a user' }),
  },
  closed,
);
export type UserMetricsPage = Static<typeof UserMetricsPage>;
