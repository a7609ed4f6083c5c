import type { KeyDirectory } from '#platform/keys/mod.ts';
import type { LimitService } from '../limits/mod.ts';
import { guarded, routesApp } from './route.ts';
import { dataReply } from './success.ts';

export type LimitRoutesOptions = { keys: Pick<KeyDirectory, 'find'>; limits: LimitService };

/** `/v1/rate-limit/usage`: authorizes, asks, answers. */
export function limitRoutes({ keys, limits }: LimitRoutesOptions) {
  return routesApp('api/limits', [
    {
      method: 'GET',
      path: '/v1/rate-limit/usage',
      handle: guarded(keys, 'read', async ({ organizationId }) =>
        dataReply(JSON.stringify(await limits.usage(organizationId))),
      ),
    },
  ]);
}
