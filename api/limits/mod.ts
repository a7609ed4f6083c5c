/** Limits as operators see them: the counters that are in use now. */
import type { UsageJson, UsageQuery } from '#core/contracts/limit-usage.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { NANO_PER_CENT } from '#core/rate-limit/mod.ts';
import { readUsage } from '#platform/limiter/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';

export type LimitService = {
  /**
   * Returns the counters nearest to their quota first, 1,000 at most.
   * @param query may name the one value of a user or a property, and a text to search
   * @param hasKeyNames whether the text may be in the name of a key
   */
  usage(organizationId: string, query?: UsageQuery, hasKeyNames?: boolean): Promise<UsageJson[]>;
};

const MAX_COUNTERS = 1_000;

/** @param sql of the role `assay_api` */
export function createLimitService(sql: Sql): LimitService {
  return {
    usage: async (organizationId, { value = null, search = '' } = {}, hasKeyNames = false) => {
      const counters = await inOrganization(sql, organizationId, (tx) =>
        readUsage(tx, organizationId, MAX_COUNTERS, { value, search: storableText(search), hasKeyNames }),
      );
      return counters.map(
        ({ unit, apiKeyId, segment, value, isOfKey, windowS, quota, used, reserved, resetMs }) => {
          const inUnit = (amount: number) => (unit === 'cents' ? amount / NANO_PER_CENT : amount);
          return {
            unit,
            api_key_id: apiKeyId,
            segment: segment === '' ? null : segment,
            value: segment === '' ? null : value,
            is_key_policy: isOfKey,
            window_seconds: windowS,
            quota: inUnit(quota),
            used: inUnit(used),
            reserved: inUnit(reserved),
            remaining: inUnit(Math.max(0, quota - used)),
            reset_seconds: Math.ceil(resetMs / 1_000),
          };
        },
      );
    },
  };
}
