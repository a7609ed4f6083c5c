/** Limits as operators see them: the counters that are in use now. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf } from '#core/contracts/shapes.ts';
import { NANO_PER_CENT, type Unit } from '#core/rate-limit/mod.ts';
import { readUsage } from '#platform/limiter/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';

/** One window of one counter. Amounts are in the unit: calls, cents, or logs. */
export const UsageJson = Type.Object(
  {
    unit: OneOf<Unit>(['request', 'cents', 'log']),
    api_key_id: Nullable(
      Type.String(),
      "Null: all of the organization's keys together, as its logs are counted",
    ),
    segment: Nullable(
      Type.String(),
      "`user`, or a property's name; null: one counter for all. `*`: values beyond the bound, counted together",
    ),
    value: Nullable(Type.String(), "The user or the property's value, its first 256 characters"),
    is_key_policy: Type.Boolean({
      description: "True: it counts the key's own policy, apart from those that calls name",
    }),
    window_seconds: Type.Number(),
    quota: Type.Number({ description: 'As it was requested last' }),
    used: Type.Number({ description: 'Estimates of calls under way included' }),
    reserved: Type.Number(),
    remaining: Type.Number(),
    reset_seconds: Type.Integer({ description: 'Until nothing that is counted now counts any more' }),
  },
  { ...closed, $id: 'LimitUsage' },
);
export type UsageJson = Static<typeof UsageJson>;

export type LimitService = {
  /** Returns the counters nearest to their quota first, 1,000 at most. */
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
