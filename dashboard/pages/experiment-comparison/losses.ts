/** Which losses of a comparison are shown. Pure. */
import type { ComparisonJson, MetricComparisonJson } from '#core/contracts/comparison.ts';
import { keyOf } from './words.ts';

export type Candidate = ComparisonJson['candidates'][number];

/** Returns the candidate of the address, else the first. */
export function chosenCandidate({ candidates }: ComparisonJson, id: string | undefined): Candidate | null {
  return candidates.find((one) => one.id === id) ?? candidates[0] ?? null;
}

/** Returns the metrics with items that lost: those that got worse first, then scores, then the others. */
export function metricsWithLosses({ metrics }: Candidate): MetricComparisonJson[] {
  const rank = ({ verdict, metric }: MetricComparisonJson) =>
    (verdict === 'worse' ? 0 : 2) + (metric === 'score' ? 0 : 1);
  return metrics.filter(({ regressions }) => regressions.length > 0).toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the metric of the address if it has losses, else the first that has. */
export function chosenMetric(candidate: Candidate, key: string | undefined): MetricComparisonJson | null {
  const metrics = metricsWithLosses(candidate);
  return metrics.find((metric) => keyOf(metric) === key) ?? metrics[0] ?? null;
}
