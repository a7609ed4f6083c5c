/** The overview's calls. */
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { call, callAhead } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import {
  gradesQuery,
  MOST_SCORES,
  modelQuery,
  type Scope,
  statusQuery,
  topQuery,
  totalsQuery,
} from './measures.ts';

const metricsCall = (query: MetricsQueryBody) => ['POST', '/v1/metrics/query', query] as const;
const SCORE_KEYS = ['GET', '/v1/score/keys', undefined] as const;

/** Loads an answer; null: not yet. */
function useMetrics(query: MetricsQueryBody | null): Resource<MetricsAnswer> {
  return useResource(query === null ? null : `metrics ${JSON.stringify(query)}`, (signal) =>
    call<MetricsAnswer>(...metricsCall(query!), signal),
  );
}

/** Asks for what the page shows first. */
export function askAhead(scope: Scope): void {
  for (const query of [totalsQuery, statusQuery, modelQuery]) callAhead(...metricsCall(query(scope)));
  callAhead(...SCORE_KEYS);
}

/** Loads the values of a dimension; null: of none. */
export function useTop(
  scope: Scope,
  dimension: Parameters<typeof topQuery>[1] | null,
): Resource<MetricsAnswer> {
  return useMetrics(dimension === null ? null : topQuery(scope, dimension));
}

export type OverviewData = {
  totals: Resource<MetricsAnswer>;
  grades: Resource<MetricsAnswer>;
  statuses: Resource<MetricsAnswer>;
  models: Resource<MetricsAnswer>;
  /** Keys of the scores that `grades` has the means of. */
  scoreKeys: readonly string[];
};

/** Loads what tiles and charts show. */
export function useOverview(scope: Scope): OverviewData {
  const totals = useMetrics(totalsQuery(scope));
  const statuses = useMetrics(statusQuery(scope));
  const models = useMetrics(modelQuery(scope));
  const scores = useResource('score keys', (signal) =>
    call<{ key: string; count: number }[]>(...SCORE_KEYS, signal),
  );
  const scoreKeys = (scores.data ?? [])
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MOST_SCORES)
    .map(({ key }) => key);
  // Without its keys, a query would be asked twice.
  const isKnown = scores.data !== null || scores.failure !== null;
  const grades = useMetrics(isKnown ? gradesQuery(scope, scoreKeys) : null);
  return { totals, grades, statuses, models, scoreKeys };
}
