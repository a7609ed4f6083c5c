import { Type } from '@sinclair/typebox';
import { UsageJson, UsageQuery } from '#core/contracts/limit-usage.ts';
import type { LimitService } from '../limits/mod.ts';
import { authorized, type Keys } from './access.ts';
import { parameters, reply } from './declare.ts';

export type LimitRoutesOptions = { keys: Keys; limits: LimitService };

/** `/v1/rate-limit/usage`. */
export function limitRoutes({ keys, limits }: LimitRoutesOptions) {
  return authorized(keys, 'read', 'Limits').get(
    '/v1/rate-limit/usage',
    ({ key, query }) => limits.usage(key.organizationId, query, key.scopes.has('write')),
    {
      query: parameters(UsageQuery),
      response: reply(Type.Array(UsageJson)),
      detail: { summary: 'Lists the counters of rate limits, those nearest to their quota first' },
    },
  );
}
