/** The statements behind the statistics of one version of one evaluator, with sums made in Postgres. */

import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import { EVALUATION_STATES, type EvaluationState } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Agreement, ProbeSum } from './agreement.ts';
import { type Basis, gradePasses } from './basis.ts';
import { type Bucket, isOfChoice, type Version } from './distribution.ts';
import type { EvaluatorRow } from './evaluator-json.ts';

export async function findVersion(
  tx: TransactionSql,
  evaluator: EvaluatorRow,
  version: number,
): Promise<Version | undefined> {
  const { organization_id: organizationId, evaluator_id: evaluatorId, scoring_type: scoringType } = evaluator;
  const [row] = await tx<
    {
      llm_template: LlmTemplate | null;
      code_template: CodeTemplate | null;
      external_config: ExternalConfig | null;
      threshold: number | null;
    }[]
  >`
    select llm_template, code_template, external_config, threshold from assay.evaluator_versions
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId} and version = ${version}`;
  if (row === undefined) return undefined;
  const { llm_template: llmTemplate, code_template: codeTemplate, external_config: externalConfig } = row;
  const definition = { scoringType, llmTemplate, codeTemplate, externalConfig };
  return { organizationId, evaluatorId, version, ...definition, threshold: row.threshold };
}

const evaluationsOf = (tx: TransactionSql, { organizationId, evaluatorId, version }: Version) => tx`
  e.organization_id = ${organizationId} and e.evaluator_id = ${evaluatorId} and e.version = ${version}`;

/** Evaluations that gave a score that counts. */
const scoredOf = (tx: TransactionSql, version: Version) => tx`
  ${evaluationsOf(tx, version)} and e.probe = '' and e.state = 'completed'`;

export async function countStates(tx: TransactionSql, version: Version) {
  const rows = await tx<{ state: EvaluationState; error_code: string | null; count: number }[]>`
    select state, error_code, count(*)::int4 as count from assay.evaluations e
    where ${evaluationsOf(tx, version)} and probe = ''
    group by state, error_code order by count desc, error_code`;
  const byState = Object.fromEntries(EVALUATION_STATES.map((state) => [state, 0])) as Record<
    EvaluationState,
    number
  >;
  const errors: Record<string, number> = {};
  const skips: Record<string, number> = {};
  for (const { state, error_code: code, count } of rows) {
    byState[state] += count;
    if (code === null) continue;
    if (state === 'skipped') skips[code] = (skips[code] ?? 0) + count;
    if (state === 'error' || state === 'dead') errors[code] = (errors[code] ?? 0) + count;
  }
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return { total, by_state: byState, errors, skips };
}

export type ScoreSums = {
  count: number;
  mean: number | null;
  standard_deviation: number | null;
  min: number | null;
  max: number | null;
};

/** Sums of squares of scores below this are within a double; larger ones, which no rubric has, are scaled first. */
const SAFE_SCORE = 1e100;
/** Smaller ones beside the largest change no digit of a sum, and a quotient that vanishes is an error of Postgres. */
const LEAST_SHARE = 1e-200;

/** The divisor of scores before they are summed. */
const scaleOf = (min: number | null, max: number | null) => {
  const largest = Math.max(Math.abs(min ?? 0), Math.abs(max ?? 0));
  return largest > SAFE_SCORE || (largest > 0 && largest < 1 / SAFE_SCORE) ? largest : 1;
};

export async function sumScores(tx: TransactionSql, version: Version): Promise<ScoreSums> {
  const [range] = await tx<{ count: number; min: number | null; max: number | null }[]>`
    select count(score)::int4 as count, min(score) as min, max(score) as max
    from assay.evaluations e where ${scoredOf(tx, version)}`;
  const { count, min, max } = range!;
  const scale = scaleOf(min, max);
  const scaled = tx`case when abs(score) >= ${scale === 1 ? 0 : scale * LEAST_SHARE}::float8 then score / ${scale}::float8
                         when score is not null then 0 end`;
  const [sums] = await tx<{ mean: number | null; deviation: number | null }[]>`
    select avg(${scaled}) as mean, stddev_samp(${scaled}) as deviation
    from assay.evaluations e where ${scoredOf(tx, version)}`;
  const times = (value: number | null) => (value === null ? null : value * scale);
  return {
    count,
    mean: times(sums!.mean),
    standard_deviation: times(sums!.deviation),
    min,
    max,
  };
}

/** Fills buckets. */
export async function countBuckets(
  tx: TransactionSql,
  version: Version,
  buckets: readonly Bucket[],
): Promise<Bucket[]> {
  const [first] = buckets;
  if (first === undefined) return [];
  return 'label' in first ? countChoices(tx, version, buckets) : countWidths(tx, version, buckets);
}

async function countChoices(
  tx: TransactionSql,
  version: Version,
  buckets: readonly Bucket[],
): Promise<Bucket[]> {
  const rows = await tx<{ label: string | null; score: number; count: number }[]>`
    select label, score, count(*)::int4 as count from assay.evaluations e
    where ${scoredOf(tx, version)} group by label, score`;
  return buckets.map((bucket) => ({
    ...bucket,
    count: rows.filter((row) => isOfChoice(bucket, row)).reduce((sum, row) => sum + row.count, 0),
  }));
}

type Width = Bucket & { from: number; to: number };

async function countWidths(
  tx: TransactionSql,
  version: Version,
  buckets: readonly Bucket[],
): Promise<Bucket[]> {
  const edges = buckets.slice(1).map((bucket) => String((bucket as Width).from));
  // The number of edges at or below a score; a score that is out by a rounding stays in the outermost bucket.
  const rows = await tx<{ bucket: number; count: number }[]>`
    select width_bucket(score, ${edges}::text[]::float8[]) as bucket, count(*)::int4 as count
    from assay.evaluations e where ${scoredOf(tx, version)} group by 1`;
  return buckets.map((bucket, index) => ({
    ...bucket,
    count: rows.find((row) => row.bucket === index)?.count ?? 0,
  }));
}

/** `day` is `YYYY-MM-DD`. */
export type DayRow = { day: string; count: number; mean: number | null };

/** Sums scores by the day of their requests; by their own day, a run over history would fall on a single one. */
export async function listDays(tx: TransactionSql, version: Version, firstDay: string): Promise<DayRow[]> {
  const rows = await tx<{ day: string; count: number; mean: number; scale: number }[]>`
    select to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int4 as count,
      avg(case when s.scale = 1 or abs(score) >= s.scale * ${LEAST_SHARE}::float8 then score / s.scale else 0 end) as mean, s.scale
    from assay.evaluations e
    cross join (
      select case when max(abs(score)) > ${SAFE_SCORE}::float8 then max(abs(score)) else 1 end as scale
      from assay.evaluations e where ${scoredOf(tx, version)}) s
    where ${scoredOf(tx, version)} and e.created_at >= ${firstDay}::text::timestamp at time zone 'UTC'
    group by 1, s.scale`;
  return rows.map(({ day, count, mean, scale }) => ({ day, count, mean: mean * scale }));
}

export type JudgeSums = {
  calls: number;
  prompt_tokens: string;
  completion_tokens: string;
  cost_nano: string;
  latency_ms: string;
  p50: number | null;
  p95: number | null;
};

/** Sums the judge's calls over all evaluations but probes: failed evaluations cost as well. */
export async function sumJudge(tx: TransactionSql, version: Version): Promise<JudgeSums> {
  const [sums] = await tx<JudgeSums[]>`
    select coalesce(sum(judge_calls), 0)::float8 as calls,
      coalesce(sum(prompt_tokens), 0)::int8 as prompt_tokens,
      coalesce(sum(completion_tokens), 0)::int8 as completion_tokens,
      coalesce(sum(cost_nano), 0)::int8 as cost_nano,
      coalesce(sum(judge_latency_ms), 0)::int8 as latency_ms,
      percentile_cont(0.5) within group (order by judge_latency_ms) as p50,
      percentile_cont(0.95) within group (order by judge_latency_ms) as p95
    from assay.evaluations e where ${evaluationsOf(tx, version)} and probe = '' and judge_calls > 0`;
  return sums!;
}

/** Selects requests with what people say of each: `good` is null where as many say the one as the other. */
function ratedRequests(tx: TransactionSql, { organizationId }: Version, basis: Basis) {
  if (basis.kind === 'feedback')
    return tx`
      select created_at, request_id, feedback_rating as good from assay.requests
      where organization_id = ${organizationId} and feedback_rating is not null`;
  const passes = gradePasses(tx, basis.passing);
  return tx`
    select g.created_at, g.request_id,
      case sign(count(*) filter (where ${passes}) * 2 - count(*)) when 1 then true when -1 then false end as good
    from assay.grades g
    where g.organization_id = ${organizationId} and g.criterion_id = ${basis.criterionId}
    group by g.created_at, g.request_id`;
}

export async function countAgreement(
  tx: TransactionSql,
  version: Version,
  threshold: number,
  basis: Basis,
): Promise<Agreement> {
  const passes = tx`e.score >= ${threshold}::float8`;
  const [all] = await tx<{ scored: number; passed: number }[]>`
    select count(*)::int4 as scored, (count(*) filter (where ${passes}))::int4 as passed
    from assay.evaluations e where ${scoredOf(tx, version)}`;
  const isScored = tx`e.state = 'completed'`;
  const [sums] = await tx<{ rated: number; ties: number; tp: number; fp: number; fn: number; tn: number }[]>`
    select (count(*) filter (where r.good is not null))::int4 as rated,
      (count(*) filter (where r.good is null))::int4 as ties,
      (count(*) filter (where ${isScored} and ${passes} and r.good))::int4 as tp,
      (count(*) filter (where ${isScored} and ${passes} and not r.good))::int4 as fp,
      (count(*) filter (where ${isScored} and not ${passes} and r.good))::int4 as fn,
      (count(*) filter (where ${isScored} and not ${passes} and not r.good))::int4 as tn
    from assay.evaluations e
    join (${ratedRequests(tx, version, basis)}) r on r.created_at = e.created_at and r.request_id = e.request_id
    where ${evaluationsOf(tx, version)} and e.probe = ''`;
  const { rated, ties, tp, fp, fn, tn } = sums!;
  return {
    ...all!,
    rated,
    ties,
    confusion: { truePositive: tp, falsePositive: fp, falseNegative: fn, trueNegative: tn },
  };
}

/** Probes beside the evaluations that they repeat. */
export async function sumProbes(
  tx: TransactionSql,
  version: Version,
  threshold: number,
): Promise<ProbeSum[]> {
  return tx<ProbeSum[]>`
    select p.probe, count(*)::int4 as count,
      (count(*) filter (where (p.score >= ${threshold}::float8) <> (e.score >= ${threshold}::float8)))::int4 as flips,
      least(1.7976931348623157e308, avg(abs(p.score::numeric - e.score::numeric)))::float8 as difference
    from assay.evaluations e
    join assay.evaluations p
      on p.organization_id = e.organization_id and p.request_id = e.request_id and p.created_at = e.created_at
        and p.evaluator_id = e.evaluator_id and p.version = e.version and p.probe <> '' and p.state = 'completed'
    where ${scoredOf(tx, version)}
    group by p.probe`;
}
