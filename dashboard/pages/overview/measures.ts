/** What the overview asks of the API. As few queries as their ten measures and one grouping allow. Pure. */
import type {
  MetricsAnswer,
  MetricsQueryBody,
  MetricsSeries,
  MetricsSummary,
} from '#core/contracts/metrics.ts';
import { LISTED_SOURCES, namesExperiments } from '../../client/sources.ts';

type Measure = MetricsQueryBody['measures'][number];
/** Where a measure's values are, in the answer's lists. */
export type Place = { answer: MetricsAnswer; index: number };

const measure = (metric: Measure['metric'], aggregate: Measure['aggregate']): Measure => ({
  metric,
  aggregate,
});

/** Of all requests; the names are those of the page. */
const TOTALS = {
  requests: measure('requests', 'count'),
  errors: measure('errors', 'count'),
  cost: measure('cost', 'sum'),
  promptTokens: measure('prompt_tokens', 'sum'),
  completionTokens: measure('completion_tokens', 'sum'),
  p50: measure('latency', 'p50'),
  p95: measure('latency', 'p95'),
  p99: measure('latency', 'p99'),
  ttft: measure('ttft', 'p95'),
  cacheHits: measure('cache_hits', 'count'),
} as const;
const GRADES = {
  saved: measure('cost_saved', 'sum'),
  rated: measure('feedback', 'count'),
  liked: measure('feedback', 'sum'),
} as const;
/** What is left of the ten measures of a query. */
export const MOST_SCORES = 7;
/** Groups of a list; a chart shows fewer. */
const LISTED = 8;
/** Statuses that requests have: few, and their classes need all of them. */
const MOST_STATUSES = 100;

export type TotalName = keyof typeof TOTALS;
export type GradeName = keyof typeof GRADES;

/** What all queries of the page have in common. */
export type Scope = { q: string; range: { from: number; to: number }; timeZone: string };

function scoped({ q, range: { from, to }, timeZone }: Scope) {
  return {
    ...(q === '' ? {} : { q }),
    ...(namesExperiments(q) && { sources: [...LISTED_SOURCES] }),
    range: { from, to },
    timeZone,
  };
}

/** Returns the query for the tiles and most charts, with the period before. */
export function totalsQuery(scope: Scope): MetricsQueryBody {
  return { ...scoped(scope), measures: Object.values(TOTALS), compareWith: 'previous' };
}

/** Returns the query for saved cost, feedback and the means of scores, with the period before. */
export function gradesQuery(scope: Scope, scoreKeys: readonly string[]): MetricsQueryBody {
  const means = scoreKeys.slice(0, MOST_SCORES).map((key) => measure(`score:${key}`, 'avg'));
  return { ...scoped(scope), measures: [...Object.values(GRADES), ...means], compareWith: 'previous' };
}

/** Returns the query for requests by status over time. */
export function statusQuery(scope: Scope): MetricsQueryBody {
  return { ...scoped(scope), measures: [TOTALS.requests], groupBy: ['status'], limit: MOST_STATUSES };
}

/** Measures of each model; the last two tell how many requests have tokens and no cost. */
const OF_MODEL = [TOTALS.cost, TOTALS.requests, measure('total_tokens', 'count'), measure('cost', 'count')];

/** Returns the query for cost and requests by model over time. */
export function modelQuery(scope: Scope): MetricsQueryBody {
  return { ...scoped(scope), measures: OF_MODEL, groupBy: ['model'], limit: LISTED };
}

/** Returns how many requests used tokens whose price is not known, by an answer to `modelQuery`. */
export function unpricedOf({ total: { total } }: MetricsAnswer): number {
  const [, , counted, priced] = total;
  return Math.max(0, (counted ?? 0) - (priced ?? 0));
}

type Dimension = NonNullable<MetricsQueryBody['groupBy']>[number];

/** Returns the query for the values of a dimension with the most requests. */
export function topQuery(scope: Scope, dimension: Dimension): MetricsQueryBody {
  return {
    ...scoped(scope),
    measures: [TOTALS.requests, TOTALS.cost],
    groupBy: [dimension],
    limit: LISTED,
    bucket: 'none',
  };
}

/** Returns where an answer to `totalsQuery` has a measure. */
export function totalPlace(answer: MetricsAnswer, name: TotalName): Place {
  return { answer, index: Object.keys(TOTALS).indexOf(name) };
}

/** Returns where an answer to `gradesQuery` has a measure. */
export function gradePlace(answer: MetricsAnswer, name: GradeName): Place {
  return { answer, index: Object.keys(GRADES).indexOf(name) };
}

/** Returns where an answer to `gradesQuery` has the mean of a score. */
export function scorePlace(answer: MetricsAnswer, position: number): Place {
  return { answer, index: Object.keys(GRADES).length + position };
}

/** Returns a measure's values, one for each bucket. */
export function valuesOf({ points }: Pick<MetricsSummary, 'points'>, index: number): (number | null)[] {
  return points.map((point) => point[index + 1] ?? null);
}

/** Returns a measure over the whole range. */
export function totalOf({ answer: { total }, index }: Place): number | null {
  return total.total[index] ?? null;
}

/** Returns a measure over the period before. */
export function totalBefore({ answer: { total }, index }: Place): number | null {
  return total.previous?.total[index] ?? null;
}

/** Returns a group's value of a query's first grouping; null: the requests that have none. */
export function groupValue({ group }: MetricsSeries): string | number | null {
  return Object.values(group)[0] ?? null;
}
