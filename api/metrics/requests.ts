/** SQL for the requests of a metrics query: their condition, their groups, and their measured values. */
import { compileFilter, Parameters } from '#core/filter/mod.ts';
import type { Metric, Range } from '#core/metrics/mod.ts';
import type { Segment } from '#core/rollups/mod.ts';
import { rowSpansOfSegments } from '#platform/rollups/mod.ts';
import type { Dimension, MetricsQuery, Period } from './read-query.ts';

/** A statement under construction, with the placeholder of its organization. */
export type Draft = { parameters: Parameters; organization: string };

export function draftFor(organizationId: string): Draft {
  const parameters = new Parameters();
  return { parameters, organization: parameters.bind(organizationId, 'uuid') };
}

/**
 * Writes the requests `r` of a query, as a FROM clause with its condition.
 * @param time one range, or the segments of a plan; only its segments of rows are read
 */
export function fromRequests(
  query: MetricsQuery,
  time: Range | readonly Segment[],
  draft: Draft,
  joins = '',
): string {
  const { parameters, organization } = draft;
  const own = `r.organization_id = ${organization}`;
  if ('fromMs' in time) {
    return `from assay.requests r ${joins}
      where ${own} and ${insideRange(time, draft)} and ${queryCondition(query, draft)}`;
  }
  // Fenced by `offset 0`: as a join, Postgres reads all requests to find those of a few seconds. Planned for their weeks only:
  // planning takes longer than reading few rows.
  const all = insideRange(rangeOfRows(time), draft);
  return `from ${rowSpansOfSegments(time, parameters)}
    cross join lateral (
      select r.* from assay.requests r
       where ${own} and ${all} and r.created_at >= span.from_at and r.created_at < span.to_at offset 0) r ${joins}
    where ${queryCondition(query, draft)}`;
}

/** Returns the range from the first to the last segment of rows; an empty one where there is none. */
function rangeOfRows(segments: readonly Segment[]): Range {
  const rows = segments.filter(({ grainSeconds }) => grainSeconds === 'rows');
  return { fromMs: rows[0]?.fromMs ?? 0, toMs: rows.at(-1)?.toMs ?? 0 };
}

/** Writes the condition that a request `r` was made in a range. */
export function insideRange({ fromMs, toMs }: Range, { parameters }: Draft): string {
  const moment = (ms: number) => parameters.bind(new Date(ms).toISOString(), 'timestamptz');
  return `r.created_at >= ${moment(fromMs)} and r.created_at < ${moment(toMs)}`;
}

/** Writes the condition of a query, without its range, on a row `r` that has the columns of its filter. */
export function queryCondition(query: MetricsQuery, { parameters }: Draft): string {
  const sources = parameters.bind(query.sources, 'text[]');
  return `r.source = any(${sources}) and ${compileFilter(query.filter, parameters, { joins: true })}`;
}

/** Writes the number of the bucket that a time is in, from 0. */
export function bucketOf(time: string, { begins }: Period, { parameters }: Draft): string {
  if (begins.length === 1) return '0';
  const bounds = begins.slice(1).map((ms) => new Date(ms).toISOString());
  // Bound as an array, not as its text, which Postgres would parse again for each row.
  return `width_bucket(${time}, ${parameters.bind(bounds, 'timestamptz[]')})`;
}

const COLUMNS: Readonly<Record<Exclude<Dimension['name'], 'property' | 'evaluator'>, string>> = {
  model: 'r.model',
  provider: 'r.provider',
  user: 'r.user_id',
  status: 'r.status::text',
  error_code: 'r.error_code',
  api_key: 'r.api_key_id::text',
  prompt_id: 'r.prompt_id',
  prompt_version: 'r.prompt_version',
  source: 'r.source',
  path: 'r.path',
};

/** Writes the values that a request `r` is grouped by: g0, g1, …, as text. */
export function groupColumns(groupBy: readonly Dimension[], { parameters }: Draft): string[] {
  return groupBy.map(({ name, property }, index) => {
    if (name === 'property')
      return `(r.properties_folded ->> ${parameters.bind(property, 'text')}) collate "C" as g${index}`;
    return `${name === 'evaluator' ? 'ev.evaluator_id::text' : COLUMNS[name]} collate "C" as g${index}`;
  });
}

/** Writes the joins that groups need. Grouped by evaluator, a request has a row for each one that graded it. */
export function groupJoins(groupBy: readonly Dimension[]): string {
  if (!groupBy.some(({ name }) => name === 'evaluator')) return '';
  return `left join lateral (
      select distinct e.evaluator_id from assay.evaluations e
       where e.organization_id = r.organization_id and e.request_id = r.request_id and e.created_at = r.created_at
         and e.state = 'completed' and e.probe = '') ev on true`;
}

/**
 * A metric with its name in statements, such as m2, and the SQL of its value for a request `r`: null where it has none, a
 * boolean for a flag.
 */
export type Measured = {
  readonly metric: Metric;
  readonly as: string;
  readonly value: string;
  /** Writes the join that the value needs. `few`: the requests are a small share of all, so that each is looked up. */
  readonly join: (few: boolean) => string;
};

/** Returns the metrics of a query, each once. */
export function measuredOf(metrics: readonly Metric[], { parameters }: Draft): Measured[] {
  const distinct = new Map(metrics.map((metric) => [keyOf(metric), metric]));
  return [...distinct.values()].map((metric, index) => {
    const as = `m${index}`;
    if (metric.name === 'score') {
      // Bound only where it is used: Postgres cannot infer the type of a parameter that its statement does not name.
      const join = (few: boolean) => {
        const score = `s${index}`;
        const isOfRequest =
          `${score}.organization_id = r.organization_id and ${score}.created_at = r.created_at ` +
          `and ${score}.request_id = r.request_id and ${score}.key = ${parameters.bind(metric.scoreKey, 'text')}`;
        return few
          ? `left join lateral (select ${score}.value from assay.request_scores ${score} where ${isOfRequest} offset 0) ${score} on true`
          : `left join assay.request_scores ${score} on ${isOfRequest}`;
      };
      return { metric, as, value: `s${index}.value`, join };
    }
    return { metric, as, value: VALUES[metric.name], join: () => '' };
  });
}

/** Returns the key of a metric: equal metrics have equal keys. */
export const keyOf = ({ name, scoreKey }: Metric): string => (scoreKey === null ? name : `score:${scoreKey}`);

/** Money in nano-dollars, tokens per second in thousandths: see `UNITS`. */
const VALUES: Readonly<Record<Exclude<Metric['name'], 'score'>, string>> = {
  requests: 'true',
  errors: 'r.status >= 400',
  cost: 'r.cost_nano',
  prompt_tokens: 'r.prompt_tokens',
  completion_tokens: 'r.completion_tokens',
  total_tokens: 'r.total_tokens',
  latency: 'r.latency_ms',
  ttft: 'r.ttft_ms',
  tokens_per_second:
    'assay.milli_tokens_per_second(r.completion_tokens, r.latency_ms, r.ttft_ms, r.cached_from)',
  cache_hits: 'r.cached_from is not null',
  cost_saved: 'r.cost_saved_nano',
  feedback: 'r.feedback_rating',
};
