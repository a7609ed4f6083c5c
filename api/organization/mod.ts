/** The caller's organization: its tier, limits and budget, and how many keys it has. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';
import { LOGS_PER_5S, TIERS, type Tier } from '#platform/keys/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { countKeys } from '../keys/mod.ts';
import { usdOrNull } from '../requests/mod.ts';

export const OrganizationJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    tier: OneOf<Tier>(TIERS),
    created_at: Timestamp,
    limits: Type.Object(
      {
        logs_per_5s: Nullable(Type.Integer(), 'Requests that are logged in any five seconds; null: all'),
      },
      closed,
    ),
    budget: Type.Object(
      {
        evaluations_per_day: Nullable(
          Type.Number(),
          'What judges may cost a day (UTC), in USD; null: no limit',
        ),
        evaluations_today: Type.Number({ description: 'What they have cost today, in USD' }),
      },
      closed,
    ),
    keys: Type.Object({ active: Type.Integer(), expired: Type.Integer(), revoked: Type.Integer() }, closed),
  },
  { ...closed, $id: 'Organization' },
);
export type OrganizationJson = Static<typeof OrganizationJson>;

export type OrganizationService = { get(organizationId: string): Promise<OrganizationJson> };

type OrganizationRow = {
  name: string;
  tier: Tier;
  logs_per_5s: number | null;
  budget_nano: string | null;
  spent_nano: string;
  created_at: Date;
};

/** @param options.sql of the role `assay_api` */
export function createOrganizationService(options: { sql: Sql; clock: Clock }): OrganizationService {
  const { sql, clock } = options;
  return {
    get: (organizationId) =>
      inOrganization(sql, organizationId, async (tx) => {
        const now = new Date(clock.now());
        const today = now.toISOString().slice(0, 'yyyy-mm-dd'.length);
        const [row] = await tx<OrganizationRow[]>`
          select name, tier, logs_per_5s, evaluation_budget_nano as budget_nano, created_at,
            (select coalesce(sum(cost_nano), 0) from assay.evaluation_spend s
             where s.organization_id = o.organization_id and day = ${today}::date) as spent_nano
          from assay.organizations o where organization_id = ${organizationId}`;
        const { name, tier, logs_per_5s, budget_nano, spent_nano, created_at } = row!;
        return {
          id: organizationId,
          name,
          tier,
          created_at: created_at.toISOString(),
          limits: { logs_per_5s: logs_per_5s ?? LOGS_PER_5S[tier] },
          budget: {
            evaluations_per_day: usdOrNull(budget_nano),
            evaluations_today: usdOrNull(spent_nano) ?? 0,
          },
          keys: await countKeys(tx, organizationId, now),
        };
      }),
  };
}
