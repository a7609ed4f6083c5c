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

/** Evaluations of a version with one outcome. `judge_…`: of those whose judge was called; sums are texts. */
type OutcomeRow = {
  is_probe: boolean;
  state: EvaluationState;
  error_code: string | null;
  count: number;
  /** Bounds of the scores; null without any. */
  least: number | null;
  most: number | null;
  scored: number;
  passed: number;
  judge_calls: string;
  prompt_tokens: string;
  completion_tokens: string;
  cost_nano: string | null;
  judge_latency_ms: string;
};

/**
 * Results of one pass over all evaluations of a version. Their rows are wide: a pass over 400,000 takes about a second, so that this
 * one serves all parts of the statistics that it can.
 */
export type Outcomes = {
  evaluations: { total: number } & Record<'errors' | 'skips', Record<string, number>> & {
      by_state: Record<EvaluationState, number>;
    };
  range: { count: number; min: number | null; max: number | null };
  passing: { scored: number; passed: number };
  /** Over all evaluations but probes: failed evaluations cost as well. `cost_nano`: null where calls have no known price. */
  judge: Record<'calls' | 'prompt_tokens' | 'completion_tokens' | 'latency_ms', number> & {
    cost_nano: number | null;
  };
  hasProbes: boolean;
};

export async function sumOutcomes(
  tx: TransactionSql,
  version: Version,
  threshold: number,
): Promise<Outcomes> {
  const judge = (column: string) => tx`sum(${tx(column)}) filter (where judge_calls > 0)::int8`;
  const rows = await tx<OutcomeRow[]>`
    select probe <> '' as is_probe, state, error_code, count(*)::int4 as count,
      min(score) as least, max(score) as most, count(score)::int4 as scored,
      (count(*) filter (where score >= ${threshold}::float8))::int4 as passed,
      ${judge('judge_calls')} as judge_calls, ${judge('prompt_tokens')} as prompt_tokens,
      ${judge('completion_tokens')} as completion_tokens, ${judge('cost_nano')} as cost_nano,
      ${judge('judge_latency_ms')} as judge_latency_ms
    from assay.evaluations e where ${evaluationsOf(tx, version)}
    group by 1, 2, 3 order by count desc, error_code`;
  const own = rows.filter((row) => !row.is_probe);
  const completed = own.filter(({ state }) => state === 'completed');
  const sum = (
    some: readonly OutcomeRow[],
    of: Exclude<keyof OutcomeRow, 'is_probe' | 'state' | 'error_code'>,
  ) => some.reduce((total, row) => total + Number(row[of] ?? 0), 0);
  const least = completed.flatMap((row) => row.least ?? []);
  const most = completed.flatMap((row) => row.most ?? []);
  const calls = sum(own, 'judge_calls');
  const isPriced = calls === 0 || own.some((row) => row.cost_nano !== null);
  return {
    evaluations: countStates(own),
    range: {
      count: sum(completed, 'scored'),
      min: least.length === 0 ? null : Math.min(...least),
      max: most.length === 0 ? null : Math.max(...most),
    },
    passing: { scored: sum(completed, 'scored'), passed: sum(completed, 'passed') },
    judge: {
      calls,
      prompt_tokens: sum(own, 'prompt_tokens'),
      completion_tokens: sum(own, 'completion_tokens'),
      cost_nano: isPriced ? sum(own, 'cost_nano') : null,
      latency_ms: sum(own, 'judge_latency_ms'),
    },
    hasProbes: rows.some((row) => row.is_probe && row.state === 'completed'),
  };
}

function countStates(rows: readonly OutcomeRow[]): Outcomes['evaluations'] {
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

export async function sumScores(
  tx: TransactionSql,
  version: Version,
  { count, min, max }: Outcomes['range'],
): Promise<ScoreSums> {
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
export async function listDays(
  tx: TransactionSql,
  version: Version,
  { min, max }: Outcomes['range'],
  firstDay: string,
): Promise<DayRow[]> {
  const largest = Math.max(Math.abs(min ?? 0), Math.abs(max ?? 0));
  const scale = largest > SAFE_SCORE ? largest : 1;
  const rows = await tx<DayRow[]>`
    select to_char(day, 'YYYY-MM-DD') as day, count(scaled)::int4 as count, avg(scaled) as mean
    from (
      select (e.created_at at time zone 'UTC')::date as day,
        case when abs(score) >= ${scale === 1 ? 0 : scale * LEAST_SHARE}::float8 then score / ${scale}::float8
          when score is not null then 0 end as scaled
      from assay.evaluations e
      where ${scoredOf(tx, version)} and e.created_at >= ${firstDay}::text::timestamp at time zone 'UTC') scored
    group by scored.day`;
  return rows.map(({ mean, ...day }) => ({ ...day, mean: mean === null ? null : mean * scale }));
}

/**
 * Returns quantiles of the time that the judge's calls of an evaluation took, as percentile_cont does. Its times are counted by their
 * value first: there are few, and all of them would be sorted.
 */
export async function judgeLatency(
  tx: TransactionSql,
  version: Version,
): Promise<{ p50: number | null; p95: number | null }> {
  const rows = await tx<{ ms: number; count: number }[]>`
    select judge_latency_ms::float8 as ms, count(*)::int4 as count
    from assay.evaluations e
    where ${evaluationsOf(tx, version)} and probe = '' and judge_calls > 0 and judge_latency_ms is not null
    group by 1 order by 1`;
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  const at = (rank: number) => {
    let passed = 0;
    return rows.find((row) => {
      passed += row.count;
      return passed > rank;
    })!.ms;
  };
  const quantile = (share: number) => {
    if (count === 0) return null;
    const rank = share * (count - 1);
    const low = at(Math.floor(rank));
    return low + (at(Math.ceil(rank)) - low) * (rank - Math.floor(rank));
  };
  return { p50: quantile(0.5), p95: quantile(0.95) };
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
): Promise<Omit<Agreement, 'scored' | 'passed'>> {
  const passes = tx`e.score >= ${threshold}::float8`;
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
