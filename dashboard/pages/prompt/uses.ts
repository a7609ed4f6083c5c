/** How the versions of a prompt do: one query for all of them. */
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { ScoreKey } from '#core/contracts/names.ts';
import { call } from '../../client/call.ts';

type Measure = MetricsQueryBody['measures'][number];

const FIXED: readonly Measure[] = [
  { metric: 'requests', aggregate: 'count' },
  { metric: 'errors', aggregate: 'count' },
  { metric: 'cost', aggregate: 'sum' },
  { metric: 'latency', aggregate: 'avg' },
];
/** What is left of the ten measures of a query. */
const MOST_SCORES = 6;
const MOST_VERSIONS = 1_000;

export type Uses = {
  requests: number;
  errors: number;
  cost: number | null;
  latencyMs: number | null;
  /** Means, in the order of `scores`. */
  means: readonly (number | null)[];
};
export type VersionUses = { scores: readonly string[]; byVersion: ReadonlyMap<string, Uses> };

/** Loads the uses of a prompt's versions in a range, by names such as `1.2`. */
export async function loadVersionUses(
  promptId: string,
  range: { from: number; to: number },
  signal: AbortSignal,
): Promise<VersionUses> {
  const keys = await call<ScoreKey[]>('GET', '/v1/score/keys', undefined, signal);
  const scores = keys
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MOST_SCORES)
    .map(({ key }) => key);
  const query: MetricsQueryBody = {
    q: `prompt:"${promptId}"`,
    measures: [...FIXED, ...scores.map((key): Measure => ({ metric: `score:${key}`, aggregate: 'avg' }))],
    groupBy: ['prompt_version'],
    range,
    bucket: 'none',
    limit: MOST_VERSIONS,
  };
  const { series } = await call<MetricsAnswer>('POST', '/v1/metrics/query', query, signal);
  const byVersion = series.map(({ group, total }): [string, Uses] => {
    const [requests = 0, errors = 0, cost = null, latencyMs = null, ...means] = total;
    const uses = { requests: requests ?? 0, errors: errors ?? 0, cost, latencyMs, means };
    return [String(group.prompt_version), uses];
  });
  // Scores that no version has say nothing.
  const shown = scores.map((_, index) => byVersion.some(([, { means }]) => typeof means[index] === 'number'));
  const kept = <T>(list: readonly T[]) => list.filter((_, index) => shown[index]);
  return {
    scores: kept(scores),
    byVersion: new Map(byVersion.map(([name, uses]) => [name, { ...uses, means: kept(uses.means) }])),
  };
}
