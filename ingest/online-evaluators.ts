/** The online evaluators of a batch's organizations, and the records that each of them samples. */
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import { isSampled, type Scope, type ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';

/** An online evaluator, with the properties of the evaluator that scheduling depends on. */
export type OnlineEvaluator = {
  organizationId: string;
  /** Tells apart several online evaluators of one evaluator. */
  onlineId: string;
  evaluatorId: string;
  version: number;
  /** How often the evaluator was resumed: tells a filter that failed before it was mended from one that fails after. */
  resumes: number;
  /** The evaluator is paused because of a filter, so no filter of it is applied. */
  isFilterPaused: boolean;
  scope: Scope;
  scoringType: ScoringType;
  adapter: string | null;
  /** Silence after which a session is evaluated; of evaluators of sessions only. */
  idleSeconds: number;
  sampleRate: number;
  probeRate: number;
  propertyFilters: { key: string; value: string }[];
  /** A filter as in queries; null: every request. */
  filter: unknown;
};

/** The records of a batch that an online evaluator samples. */
export type Sample = {
  evaluator: OnlineEvaluator;
  /** All of them; of an evaluator of sessions, the records of the sessions that it samples. */
  sampled: readonly StorableRecord[];
  /** Those of them that have the properties that the evaluator asks for. */
  matching: readonly StorableRecord[];
};

/** Returns the online evaluators of these records' organizations, the oldest first. Calls that evaluators made are not scored. */
export async function findOnlineEvaluators(
  tx: TransactionSql,
  records: readonly StorableRecord[],
): Promise<OnlineEvaluator[]> {
  const organizations = new Set(
    records.flatMap(({ request }) => (isScorable(request) ? request.organization_id : [])),
  );
  if (organizations.size === 0) return [];
  return await tx<OnlineEvaluator[]>`
    select o.organization_id as "organizationId", o.online_id as "onlineId", o.evaluator_id as "evaluatorId", e.version,
           e.resumes, e.paused_reason is not distinct from 'filter' as "isFilterPaused", e.scope,
           o.idle_seconds as "idleSeconds",
           e.scoring_type as "scoringType", v.external_config ->> 'adapter' as adapter,
           o.sample_rate as "sampleRate", o.probe_rate as "probeRate",
           o.property_filters as "propertyFilters", o.filter
      from assay.online_evaluators o
      join assay.evaluators e on e.organization_id = o.organization_id and e.evaluator_id = o.evaluator_id
                             and e.deleted_at is null
      join assay.evaluator_versions v on v.evaluator_id = e.evaluator_id and v.version = e.version
     where o.organization_id = any(${[...organizations]}::uuid[])
     order by o.created_at, o.online_id`;
}

/** Returns the records that an evaluator samples: by their own ids, or by the ids of their sessions. */
export function sampleRecords(evaluator: OnlineEvaluator, records: readonly StorableRecord[]): Sample {
  const { organizationId, evaluatorId, scope, sampleRate } = evaluator;
  const sampled = records.filter(({ request }) => {
    if (request.organization_id !== organizationId || !isScorable(request)) return false;
    const id = scope === 'session' ? request.session_id : request.request_id;
    return id !== null && isSampled(evaluatorId, id, sampleRate);
  });
  return { evaluator, sampled, matching: sampled.filter((record) => hasProperties(evaluator, record)) };
}

/**
 * Returns whether online evaluators score a request. Those of the playground and of experiments are trials with other prompts
 * and models: their scores would cost money, and move the quality that is measured of real traffic. A run scores them when its
 * filter finds them, and an experiment has evaluators of its own.
 */
function isScorable({ source }: StorableRecord['request']): boolean {
  return source === 'gateway' || source === 'api';
}

/** Returns whether a request has the properties that an evaluator asks for. */
function hasProperties({ propertyFilters }: OnlineEvaluator, { request }: StorableRecord): boolean {
  if (propertyFilters.length === 0) return true;
  const properties = JSON.parse(request.properties_folded) as Record<string, string>;
  return propertyFilters.every(({ key, value }) => properties[foldName(key)] === storableText(value));
}
