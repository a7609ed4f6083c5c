import { Type } from '@sinclair/typebox';
import { UserMetricsBody, UserMetricsPage, UserQueryBody, UserTotals } from '#core/contracts/users.ts';
import type { UserService } from '../users/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply } from './declare.ts';

export type UserRoutesOptions = { keys: Keys; users: UserService };

const timeFilter = { startTimeUnixSeconds: 1_795_305_600, endTimeUnixSeconds: 1_795_392_000 };

/** `/v1/user…`: the users that calls name. */
export function userRoutes({ keys, users }: UserRoutesOptions) {
  return authorized(keys, 'read', 'Users')
    .post('/v1/user/query', ({ key, body }) => users.query(key.organizationId, body), {
      body: jsonBody(UserQueryBody, { userIds: ['user-1'], timeFilter }),
      response: reply(Type.Array(UserTotals)),
      detail: { summary: 'Sums up the requests of users, those with the most first' },
    })
    .post('/v1/user/metrics/query', ({ key, body }) => users.queryMetrics(key.organizationId, body), {
      body: jsonBody(UserMetricsBody, { filter: 'all', timeFilter, sort: { cost: 'desc' }, limit: 10 }),
      response: reply(UserMetricsPage),
      detail: { summary: 'Lists users with their activity, tokens and cost, a page at a time' },
    });
}
