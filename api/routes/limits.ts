import { Type } from '@sinclair/typebox';
import { UsageJson } from '#core/contracts/limit-usage.ts';
import type { LimitService } from '../limits/mod.ts';
import { authorized, type Keys } from './access.ts';
import { reply } from './declare.ts';

export type LimitRoutesOptions = { keys: Keys; limits: LimitService };

/** `/v1/rate-limit/usage`. */
export function limitRoutes({ keys, limits }: LimitRoutesOptions) {
  return authorized(keys, 'read', 'Limits').get(
    '/v1/rate-limit/usage',
    ({ key }) => limits.usage(key.organizationId),
    {
      response: reply(Type.Array(UsageJson)),
      detail: { summary: 'Lists the counters of rate limits, those nearest to their quota first' },
    },
  );
}
