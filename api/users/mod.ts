/** Users: the ids that calls name, with what they asked for and what it cost. */
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { indexedText } from '#core/contracts/storable-text.ts';
import {
  DEFAULT_USERS,
  type SecondsFilter,
  type UserMetric,
  type UserMetrics,
  type UserMetricsBody,
  type UserMetricsPage,
  type UserQueryBody,
  type UserTotals,
} from '#core/contracts/users.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { runStatement, usdOrNull } from '../requests/mod.ts';
import {
  type TimeSpan,
  type UserMetricsQuery,
  type UserMetricsRow,
  type UserTotalsRow,
  userMetricsStatement,
  userTotalsStatement,
} from './statements.ts';

/** The work behind the routes of `/v1/user`, for one organization at a time. */
export type UserService = {
  /** The totals of users, those with the most requests first. */
  query(organizationId: string, body: UserQueryBody): Promise<UserTotals[]>;
  queryMetrics(organizationId: string, body: UserMetricsBody): Promise<UserMetricsPage>;
};

/** @param sql a pool under the role `assay_api` */
export function createUserService({ sql }: { sql: Sql }): UserService {
  return {
    async query(organizationId, { userIds, timeFilter, limit = DEFAULT_USERS, offset = 0 }) {
      const ids = userIds?.map(indexedText) ?? null;
      const query = { userIds: ids, span: readSpan(timeFilter), limit, offset };
      const statement = userTotalsStatement(organizationId, query);
      const rows = await inOrganization(sql, organizationId, (tx) =>
        runStatement<UserTotalsRow>(tx, statement),
      );
      return rows.map(({ cost_nano, ...row }) => ({ ...row, cost: usdOrNull(cost_nano) }));
    },

    async queryMetrics(organizationId, body) {
      const statement = userMetricsStatement(organizationId, readMetricsQuery(body));
      const rows = await inOrganization(sql, organizationId, (tx) =>
        runStatement<UserMetricsRow>(tx, statement),
      );
      return pageOf(rows);
    },
  };
}

/** @throws AssayError invalid_filter, invalid_body */
function readMetricsQuery(body: UserMetricsBody): UserMetricsQuery {
  const { limit = DEFAULT_USERS, offset = 0, timeZoneDifferenceMinutes = 0 } = body;
  const filter = parseFilter(filterOf(body, { otherwise: 'all' }));
  const [metric, direction] = Object.entries(body.sort ?? { last_active: 'desc' })[0]!;
  return {
    condition: { filter, isCached: false, isPartOfExperiment: false, isScored: false },
    span: readSpan(body.timeFilter),
    zoneMinutes: timeZoneDifferenceMinutes,
    sort: { metric: metric as UserMetric, direction: direction as 'asc' | 'desc' },
    limit,
    offset,
  };
}

/** @throws AssayError invalid_body when the end is before the start */
function readSpan(filter: SecondsFilter | undefined): TimeSpan | null {
  if (filter === undefined) return null;
  const { startTimeUnixSeconds: start, endTimeUnixSeconds: end } = filter;
  if (end < start) {
    throw invalidField(
      'timeFilter.endTimeUnixSeconds',
      `must be at least timeFilter.startTimeUnixSeconds, which is ${start}, but is ${end}`,
    );
  }
  return { fromMs: Math.floor(start * 1_000), toMs: Math.floor(end * 1_000) };
}

function pageOf(rows: readonly UserMetricsRow[]): UserMetricsPage {
  const users: UserMetrics[] = [];
  for (const row of rows) {
    if (row.user_id === null) continue;
    users.push({
      user_id: row.user_id,
      active_for: row.active_for,
      first_active: row.first_active.toISOString(),
      last_active: row.last_active.toISOString(),
      total_requests: row.total_requests,
      average_requests_per_day_active: row.average_requests_per_day_active,
      average_tokens_per_request: row.average_tokens_per_request,
      total_completion_tokens: row.total_completion_tokens,
      total_prompt_tokens: row.total_prompt_tokens,
      cost: usdOrNull(row.cost),
    });
  }
  return { users, count: rows[0]!.count, hasUsers: rows[0]!.has_users };
}
