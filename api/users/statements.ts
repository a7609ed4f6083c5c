/** The statements of users: sums over their requests, exact, straight from the records. */
import type { UserMetric } from '#core/contracts/users.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';
import { conditionOf, type RequestCondition } from '../requests/mod.ts';

/** A span of time in milliseconds since the epoch: from `fromMs` up to, but not including, `toMs`. */
export type TimeSpan = { fromMs: number; toMs: number };

/** A page of users. */
export type UserPage = { limit: number; offset: number };

export type UserTotalsQuery = UserPage & { userIds: readonly string[] | null; span: TimeSpan | null };

export type UserMetricsQuery = UserPage & {
  condition: RequestCondition;
  span: TimeSpan | null;
  /** UTC less local time. */
  zoneMinutes: number;
  sort: { metric: UserMetric; direction: 'asc' | 'desc' };
};

/** A row of `userTotalsStatement`; nano-dollars as text, null where requests have tokens and no cost is known. */
export type UserTotalsRow = {
  user_id: string;
  count: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_nano: string | null;
};

/** A row of `userMetricsStatement`: a user, or nulls when the page has none, beside the number of all. */
export type UserMetricsRow = {
  count: number;
  has_users: boolean;
  user_id: string | null;
  active_for: number;
  first_active: Date;
  last_active: Date;
  total_requests: number;
  average_requests_per_day_active: number;
  average_tokens_per_request: number;
  total_completion_tokens: number;
  total_prompt_tokens: number;
  cost: string | null;
};

/**
 * Writes what requests cost, from the names of their sum and of the numbers of those with a cost and with tokens. As in metrics,
 * it is null where requests have tokens and none has a known price; requests without tokens, such as failed ones, cost nothing.
 */
function costOf(sum: string, priced: string, counted: string): string {
  return `case when ${priced} > 0 or ${counted} = 0 then coalesce(${sum}, 0) end`;
}

const NO_FILTER: RequestCondition = {
  filter: { kind: 'all' },
  isCached: false,
  isPartOfExperiment: false,
  isScored: false,
};

/** Writes the condition of requests `r` that name a user, in a span. */
function ofUsers(
  condition: RequestCondition,
  span: TimeSpan | null,
  organization: string,
  parameters: Parameters,
): string {
  const conditions = [
    conditionOf(condition, organization, parameters, { joins: true }),
    'r.user_id is not null',
  ];
  if (span !== null) {
    const time = (ms: number) => parameters.bind(new Date(ms).toISOString(), 'timestamptz');
    conditions.push(`r.created_at >= ${time(span.fromMs)} and r.created_at < ${time(span.toMs)}`);
  }
  return conditions.join(' and ');
}

/** Selects users' totals, those with the most requests first. */
export function userTotalsStatement(organizationId: string, query: UserTotalsQuery): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const condition = ofUsers(NO_FILTER, query.span, organization, parameters);
  const some =
    query.userIds === null ? '' : `and r.user_id = any(${parameters.bind(query.userIds, 'text[]')})`;
  const text = `
    select r.user_id, count(*)::float8 as count, coalesce(sum(r.prompt_tokens), 0)::float8 as prompt_tokens,
      coalesce(sum(r.completion_tokens), 0)::float8 as completion_tokens,
      (${costOf('sum(r.cost_nano)', 'count(r.cost_nano)', 'count(r.total_tokens)')})::text as cost_nano
    from assay.requests r
    where ${condition} ${some}
    group by r.user_id
    order by 2 desc, r.user_id
    limit ${parameters.bind(query.limit, 'int8')} offset ${parameters.bind(query.offset, 'int8')}`;
  return { text, values: parameters.values };
}

/**
 * Selects a page of users with their metrics. Sums by day first and then by user: counting the distinct days of each user
 * would sort all requests.
 */
export function userMetricsStatement(organizationId: string, query: UserMetricsQuery): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const condition = ofUsers(query.condition, query.span, organization, parameters);
  const zone = parameters.bind(query.zoneMinutes, 'int4');
  const order = `u.${query.sort.metric} ${query.sort.direction} nulls last, u.user_id`;
  const text = `
    with days as (
      select r.user_id, (r.created_at at time zone 'UTC' - make_interval(mins => ${zone}))::date as day,
        min(r.created_at) as first_active, max(r.created_at) as last_active, count(*) as requests,
        sum(r.prompt_tokens) as prompt_tokens, sum(r.completion_tokens) as completion_tokens, sum(r.cost_nano) as cost,
        count(r.cost_nano) as priced, count(r.total_tokens) as counted
      from assay.requests r
      where ${condition}
      group by 1, 2
    ), users as materialized (
      select user_id, count(*)::float8 as active_for, min(first_active) as first_active, max(last_active) as last_active,
        sum(requests)::float8 as total_requests,
        (sum(requests) / count(*))::float8 as average_requests_per_day_active,
        ((coalesce(sum(prompt_tokens), 0) + coalesce(sum(completion_tokens), 0)) / sum(requests))::float8
          as average_tokens_per_request,
        coalesce(sum(completion_tokens), 0)::float8 as total_completion_tokens,
        coalesce(sum(prompt_tokens), 0)::float8 as total_prompt_tokens,
        ${costOf('sum(cost)', 'sum(priced)', 'sum(counted)')} as cost
      from days group by user_id
    )
    select a.count, a.has_users, u.*
    from (
      select (select count(*) from users)::float8 as count,
        exists (select from assay.requests r where ${ofUsers(NO_FILTER, null, organization, parameters)}) as has_users
    ) a left join (
      select * from users u order by ${order}
      limit ${parameters.bind(query.limit, 'int8')} offset ${parameters.bind(query.offset, 'int8')}
    ) u on true
    order by ${order}`;
  return { text, values: parameters.values };
}
