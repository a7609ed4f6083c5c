/**
 * Schedules the evaluations of records, in the transaction that stores the records: a record is stored together with its
 * evaluations, or not at all.
 */

import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import { compileFilter, Parameters, parseFilter, type Statement } from '#core/filter/mod.ts';
import {
  isSampled,
  laneOf,
  type Probe,
  probesFor,
  type Scope,
  type ScoringType,
  samplingPoint,
} from '#core/scoring/mod.ts';
import { isStoreUnavailable, type TransactionSql, withinTime } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';

/** An online evaluator, with the properties of the evaluator that scheduling depends on. */
export type OnlineEvaluator = {
  organizationId: string;
  evaluatorId: string;
  version: number;
  scope: Scope;
  scoringType: ScoringType;
  adapter: string | null;
  /** Silence after which a session is evaluated; of evaluators of sessions only. */
  idleSeconds: number;
  sampleRate: number;
  probeRate: number;
  propertyFilters: { key: string; value: string }[];
  filter: unknown;
};

/** Returns the online evaluators of these records' organizations. Calls that evaluators made are not scored. */
export async function findOnlineEvaluators(
  tx: TransactionSql,
  records: readonly StorableRecord[],
): Promise<OnlineEvaluator[]> {
  const organizations = new Set(
    records.flatMap(({ request }) => (isScorable(request) ? request.organization_id : [])),
  );
  if (organizations.size === 0) return [];
  return await tx<OnlineEvaluator[]>`
    select o.organization_id as "organizationId", o.evaluator_id as "evaluatorId", e.version, e.scope,
           o.idle_seconds as "idleSeconds",
           e.scoring_type as "scoringType", v.external_config ->> 'adapter' as adapter,
           o.sample_rate as "sampleRate", o.probe_rate as "probeRate",
           o.property_filters as "propertyFilters", o.filter
      from assay.online_evaluators o
      join assay.evaluators e on e.organization_id = o.organization_id and e.evaluator_id = o.evaluator_id
                             and e.deleted_at is null
      join assay.evaluator_versions v on v.evaluator_id = e.evaluator_id and v.version = e.version
     where o.organization_id = any(${[...organizations]}::uuid[])`;
}

/** Called when an online evaluator's filter fails, so that the evaluator gets none of these records. */
export type OnBadFilter = (evaluatorId: string, error: unknown) => void;

/**
 * Schedules the evaluations of these records by evaluators of requests. They must be stored before, in the same transaction.
 * @param isAnyKnown whether some of them were stored before: an evaluator that was scheduled for such a record then, in any
 *   version, is not scheduled again
 * @returns the number of new evaluations
 */
export async function scheduleEvaluations(
  tx: TransactionSql,
  records: readonly StorableRecord[],
  online: readonly OnlineEvaluator[],
  isAnyKnown: boolean,
  onBadFilter: OnBadFilter,
): Promise<number> {
  const due: Due[] = [];
  for (const evaluator of online) {
    if (evaluator.scope !== 'request') continue;
    const sampled = records.filter((record) => applies(evaluator, record));
    const passing = await passFilter(tx, evaluator, sampled, onBadFilter);
    for (const { request } of passing) due.push(...evaluationsOf(evaluator, request));
  }
  if (due.length === 0) return 0;
  const unlessScheduled = tx`
     where not exists (
       select from assay.evaluations e
        where e.organization_id = due.organization_id and e.request_id = due.request_id
          and e.created_at = due.created_at and e.evaluator_id = due.evaluator_id)`;
  const column = <Name extends keyof Due>(name: Name) => due.map((one) => one[name]);
  const { count } = await tx`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, probe, lane, priority, due_at, scheduled_at)
    select organization_id, evaluator_id, version, created_at, request_id, probe, lane,
           case probe when '' then 0 else 1 end, now(), now()
      from unnest(${column('organizationId')}::uuid[], ${column('evaluatorId')}::uuid[], ${column('version')}::int4[],
                  ${column('createdAt')}::timestamptz[], ${column('requestId')}::text[], ${column('probe')}::text[],
                  ${column('lane')}::text[])
        as due (organization_id, evaluator_id, version, created_at, request_id, probe, lane)
     ${isAnyKnown ? unlessScheduled : tx``}
    on conflict do nothing`;
  if (count > 0) await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
  return count;
}

type Due = {
  organizationId: string;
  evaluatorId: string;
  version: number;
  createdAt: string;
  requestId: string;
  probe: Probe | '';
  lane: string;
};

/**
 * Returns whether online evaluators score a request. Those of the playground and of experiments are trials with other prompts
 * and models: their scores would cost money, and move the quality that is measured of real traffic. A run scores them when its
 * filter finds them, and an experiment has evaluators of its own.
 */
export const isScorable = ({ source }: StorableRecord['request']) => source === 'gateway' || source === 'api';

function applies(evaluator: OnlineEvaluator, { request }: StorableRecord): boolean {
  if (request.organization_id !== evaluator.organizationId || !isScorable(request)) return false;
  if (!isSampled(evaluator.evaluatorId, request.request_id, evaluator.sampleRate)) return false;
  return hasProperties(evaluator, { request });
}

/** Returns whether a request has the properties that an evaluator asks for. */
export function hasProperties(
  evaluator: OnlineEvaluator,
  { request }: Pick<StorableRecord, 'request'>,
): boolean {
  if (evaluator.propertyFilters.length === 0) return true;
  const properties = JSON.parse(request.properties_folded) as Record<string, string>;
  return evaluator.propertyFilters.every(
    ({ key, value }) => properties[foldName(key)] === storableText(value),
  );
}

/** An organization may have fifty evaluators, and the batch has records of others, too. */
const FILTER_TIMEOUT_MS = 5_000;

/** Returns the records that pass an evaluator's filter, found by the same statement as in a query. */
export async function passFilter(
  tx: TransactionSql,
  { evaluatorId, organizationId, filter }: OnlineEvaluator,
  records: readonly StorableRecord[],
  onBadFilter: OnBadFilter,
): Promise<readonly StorableRecord[]> {
  if (filter === null || records.length === 0) return records;
  try {
    const { text, values } = filterStatement(organizationId, filter, records);
    // In a savepoint: a filter that Postgres refuses costs its evaluator this batch, but no record is lost.
    const rows = await withinTime(tx, FILTER_TIMEOUT_MS, (savepoint) =>
      savepoint.unsafe(text, values as string[]),
    );
    const passing = new Set(rows.map((row) => row.request_id as string));
    return records.filter(({ request }) => passing.has(request.request_id));
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    onBadFilter(evaluatorId, error);
    return [];
  }
}

/** @throws AssayError for a filter that another version of Assay has stored, and this one does not understand */
function filterStatement(
  organizationId: string,
  filter: unknown,
  records: readonly StorableRecord[],
): Statement {
  const parameters = new Parameters();
  const times = records.map(({ request }) => request.created_at.getTime());
  const conditions = [
    `r.organization_id = ${parameters.bind(organizationId, 'uuid')}`,
    `r.request_id = any(${parameters.bind(
      records.map(({ request }) => request.request_id),
      'text[]',
    )})`,
    `r.created_at between ${parameters.bind(new Date(Math.min(...times)).toISOString(), 'timestamptz')}`,
    `${parameters.bind(new Date(Math.max(...times)).toISOString(), 'timestamptz')}`,
    compileFilter(parseFilter(filter), parameters, { joins: false }),
  ];
  const text = `select request_id from assay.requests r where ${conditions.join(' and ')}`;
  return { text, values: parameters.values };
}

function evaluationsOf(evaluator: OnlineEvaluator, request: StorableRecord['request']): Due[] {
  const evaluation: Due = {
    organizationId: evaluator.organizationId,
    evaluatorId: evaluator.evaluatorId,
    version: evaluator.version,
    createdAt: request.created_at.toISOString(),
    requestId: request.request_id,
    probe: '',
    lane: laneOf(evaluator.scoringType, evaluator.adapter),
  };
  const probe = probeOf(evaluator, request.request_id);
  return probe === null ? [evaluation] : [evaluation, { ...evaluation, probe }];
}

/** Returns the probe of a sampled request, if it is in the share that gets one; the request's id decides which. */
function probeOf({ evaluatorId, scoringType, probeRate }: OnlineEvaluator, requestId: string): Probe | null {
  const probes = probesFor(scoringType);
  const point = samplingPoint(`${evaluatorId}/probe`, requestId);
  if (probes.length === 0 || point >= probeRate) return null;
  return probes[Math.floor((point / probeRate) * probes.length)]!;
}
