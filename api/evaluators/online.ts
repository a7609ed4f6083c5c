/** Online evaluators: which requests an evaluator scores as they are logged. */
import { type Static, Type } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { closed, Timestamp } from '#core/contracts/shapes.ts';
import type { Scope } from '#core/evaluations/mod.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import type { OnlineEvaluatorBody, OnlineEvaluatorPatch } from './bodies.ts';
import type { Context } from './context.ts';
import { refusePairwise } from './refuse-pairwise.ts';
import { refuseImported, requireEvaluator } from './rules.ts';
import { lockEvaluators } from './store.ts';

export const OnlineEvaluatorJson = Type.Object(
  {
    id: Type.String(),
    evaluator_id: Type.String(),
    config: Type.Object(
      {
        sampleRate: Type.Number({ description: 'Percent' }),
        propertyFilters: Type.Array(Type.Object({ key: Type.String(), value: Type.String() }, closed)),
        filter: Type.Unknown({
          description: 'The filter as it was given, `q` as the equivalent JSON; null: every request',
        }),
        probeRate: Type.Number({ description: 'Percent of the sampled requests' }),
        idleSeconds: Type.Optional(
          Type.Integer({
            description: 'Silence after which a session is evaluated; only of an evaluator of sessions',
          }),
        ),
      },
      closed,
    ),
    created_at: Timestamp,
  },
  { ...closed, $id: 'OnlineEvaluator' },
);
export type OnlineEvaluatorJson = Static<typeof OnlineEvaluatorJson>;

export type OnlineEvaluators = {
  create(
    organizationId: string,
    evaluatorId: string,
    body: OnlineEvaluatorBody,
  ): Promise<OnlineEvaluatorJson>;
  /** Newest first. */
  list(organizationId: string, evaluatorId: string): Promise<OnlineEvaluatorJson[]>;
  /** Changes the given fields, for requests that are stored from now on: what was scheduled before stays. */
  change(
    organizationId: string,
    evaluatorId: string,
    onlineId: string,
    body: OnlineEvaluatorPatch,
  ): Promise<OnlineEvaluatorJson>;
  remove(organizationId: string, evaluatorId: string, onlineId: string): Promise<null>;
};

/** Most online evaluators of one organization: ingest checks each of them for every logged request. */
const MAX_ONLINE_EVALUATORS = 50;

/** A quarter of an hour: after it, most conversations do not go on. One that does is evaluated anew. */
const DEFAULT_IDLE_SECONDS = 900;

/** A body without a filter means every request. */
const ONLINE = { otherwise: null, path: 'config.' } as const;

type OnlineRow = {
  online_id: string;
  evaluator_id: string;
  sample_rate: number;
  property_filters: { key: string; value: string }[];
  filter: unknown;
  probe_rate: number;
  idle_seconds: number;
  created_at: Date;
};

function onlineJson(row: OnlineRow, scope: Scope): OnlineEvaluatorJson {
  return {
    id: row.online_id,
    evaluator_id: row.evaluator_id,
    config: {
      sampleRate: row.sample_rate,
      propertyFilters: row.property_filters.map(({ key, value }) => ({ key, value })),
      filter: row.filter,
      probeRate: row.probe_rate,
      ...(scope === 'session' && { idleSeconds: row.idle_seconds }),
    },
    created_at: row.created_at.toISOString(),
  };
}

/** Checks a filter and returns it as it is stored: JSON as given, a text as its tree; null when there is none. */
function checkedFilter({ filter: given, q }: OnlineEvaluatorPatch['config']): string | null {
  const filter = filterOf({ filter: given ?? undefined, ...(q !== undefined && { q }) }, ONLINE);
  if (filter === null) return null;
  parseFilter(filter);
  return storableJson(filter).text;
}

/** @throws AssayError invalid_body for what an evaluator of this scope has not */
function refuseForeign(scope: Scope, { idleSeconds, probeRate = 0 }: OnlineEvaluatorPatch['config']): void {
  const foreign = (member: string) =>
    new AssayError(
      'invalid_body',
      `config.${member} does not belong to an evaluator with the scope ${scope}`,
    );
  if (scope === 'request' && idleSeconds !== undefined) throw foreign('idleSeconds');
  if (scope === 'session' && probeRate > 0) throw foreign('probeRate');
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.online_evaluators where organization_id = ${organizationId}`;
  if (row!.count < MAX_ONLINE_EVALUATORS) return;
  throw new AssayError(
    'conflict',
    `An organization can have at most ${MAX_ONLINE_EVALUATORS} online evaluators`,
  );
}

export function createOnlineEvaluators({ sql, clock }: Pick<Context, 'sql' | 'clock'>): OnlineEvaluators {
  return {
    async create(organizationId, evaluatorId, { config }) {
      const { sampleRate, propertyFilters = [], probeRate = 0, idleSeconds = DEFAULT_IDLE_SECONDS } = config;
      const filter = checkedFilter(config);
      return inOrganization(sql, organizationId, async (tx) => {
        await lockEvaluators(tx, organizationId);
        const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
        refuseImported(evaluator);
        refusePairwise(evaluator.scoring_type);
        refuseForeign(evaluator.scope, config);
        await refuseTooMany(tx, organizationId);
        const [row] = await tx<OnlineRow[]>`
          insert into assay.online_evaluators
            (organization_id, evaluator_id, sample_rate, property_filters, filter, probe_rate, idle_seconds, created_at)
          values
            (${organizationId}, ${evaluatorId}, ${sampleRate}, ${storableJson(propertyFilters).text}::text::jsonb,
             ${filter}::text::jsonb, ${probeRate}, ${idleSeconds}, ${new Date(clock.now())})
          returning *`;
        return onlineJson(row!, evaluator.scope);
      });
    },

    async list(organizationId, evaluatorId) {
      return inOrganization(sql, organizationId, async (tx) => {
        const { scope } = await requireEvaluator(tx, organizationId, evaluatorId);
        const rows = await tx<OnlineRow[]>`
          select * from assay.online_evaluators
          where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}
          order by created_at desc, online_id desc`;
        return rows.map((row) => onlineJson(row, scope));
      });
    },

    async change(organizationId, evaluatorId, onlineId, { config }) {
      const { sampleRate = null, propertyFilters, probeRate = null, idleSeconds = null, filter, q } = config;
      const properties = propertyFilters === undefined ? null : storableJson(propertyFilters).text;
      const keepsFilter = filter === undefined && q === undefined;
      const newFilter = checkedFilter(config);
      return inOrganization(sql, organizationId, async (tx) => {
        const { scope } = await requireEvaluator(tx, organizationId, evaluatorId);
        refuseForeign(scope, config);
        // One statement, so that two changes at once of different fields both hold.
        const [row] = await tx<OnlineRow[]>`
          update assay.online_evaluators set
            sample_rate = coalesce(${sampleRate}, sample_rate),
            property_filters = coalesce(${properties}::text::jsonb, property_filters),
            filter = case when ${keepsFilter} then filter else ${newFilter}::text::jsonb end,
            probe_rate = coalesce(${probeRate}, probe_rate),
            idle_seconds = coalesce(${idleSeconds}::int4, idle_seconds)
          where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}
            and online_id = ${onlineId}
          returning *`;
        if (row === undefined) throw unknown('online evaluator', onlineId);
        return onlineJson(row, scope);
      });
    },

    async remove(organizationId, evaluatorId, onlineId) {
      await inOrganization(sql, organizationId, async (tx) => {
        await requireEvaluator(tx, organizationId, evaluatorId);
        const removed = await tx`
          delete from assay.online_evaluators
          where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}
            and online_id = ${onlineId}
          returning 1`;
        if (removed.length === 0) throw unknown('online evaluator', onlineId);
      });
      return null;
    },
  };
}
