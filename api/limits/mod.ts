/** Limits as operators see them: the counters that something counts in now. */

import { NANO_PER_CENT, type Unit } from '#core/rate-limit/mod.ts';
import { readUsage } from '#platform/limiter/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';

/** `GET /v1/rate-limit/usage`: one window of one counter. Amounts are in the unit: calls, cents, or logs. */
export type UsageJson = {
  unit: Unit;
  /** Null: all of the organization's together, as its logs are counted. */
  api_key_id: string | null;
  /** `user`, or a property's name; null: one counter for all. `*`: values beyond the bound, counted together. */
  segment: string | null;
  /** The user or the property's value, its first 256 characters. */
  value: string | null;
  window_seconds: number;
  /** As it was asked for last. */
  quota: number;
  /** Estimates of calls under way included. */
  used: number;
  reserved: number;
  remaining: number;
  /** Until nothing that is counted now counts any more. */
  reset_seconds: number;
};

export type LimitService = {
  /** Those nearest to their quota first, 1,000 at most. */
  usage(organizationId: string): Promise<UsageJson[]>;
};

const MAX_COUNTERS = 1_000;

/** @param sql of the role `assay_api` */
export function createLimitService(sql: Sql): LimitService {
  return {
    usage: async (organizationId) => {
      const counters = await inOrganization(sql, organizationId, (tx) =>
        readUsage(tx, organizationId, MAX_COUNTERS),
      );
      return counters.map(({ unit, apiKeyId, segment, value, windowS, quota, used, reserved, resetMs }) => {
        const inUnit = (amount: number) => (unit === 'cents' ? amount / NANO_PER_CENT : amount);
        return {
          unit,
          api_key_id: apiKeyId,
          segment: segment === '' ? null : segment,
          value: segment === '' ? null : value,
          window_seconds: windowS,
          quota: inUnit(quota),
          used: inUnit(used),
          reserved: inUnit(reserved),
          remaining: inUnit(Math.max(0, quota - used)),
          reset_seconds: Math.ceil(resetMs / 1_000),
        };
      });
    },
  };
}
