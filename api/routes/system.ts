import { SystemJson } from '#core/contracts/system.ts';
import type { SystemService } from '../system/mod.ts';
import { authorized, type Keys } from './access.ts';
import { reply } from './declare.ts';

export type SystemRoutesOptions = { keys: Keys; system: SystemService };

/** `/v1/system`. */
export function systemRoutes({ keys, system }: SystemRoutesOptions) {
  return authorized(keys, 'read', 'System').get('/v1/system', ({ key }) => system.get(key.organizationId), {
    response: reply(SystemJson),
    detail: {
      summary:
        'Returns the state of the installation: health with reasons, processes, lags, backlogs, breakers',
    },
  });
}
