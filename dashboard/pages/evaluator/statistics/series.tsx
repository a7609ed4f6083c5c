/** Scores of the last 30 days: how many, and their mean. */
import type { Evaluator, Stats } from '../../../client/evaluators.ts';
import type { Span } from '../../../parts/chart/buckets.ts';
import { Chart } from '../../../parts/chart/chart.tsx';
import { useAddress } from '../../../state/address.ts';
import { daysAddress } from '../address.ts';
import { dayBuckets, daysOf } from './days.ts';
import { Section } from './parts.tsx';

/** Shows a chart of each. Days are those of UTC, by when the requests were made. */
export function Series({ evaluator: { name }, stats: { daily } }: { evaluator: Evaluator; stats: Stats }) {
  const { go } = useAddress();
  if (daily.every((one) => one.count === 0)) {
    return (
      <Section title="By day">
        <p class="muted">No request of the last 30 days has a score.</p>
      </Section>
    );
  }
  const buckets = dayBuckets(daily);
  const hrefOf = (span: Span | null) => {
    const { first, last } = daysOf(daily, buckets, span ?? buckets);
    return daysAddress(name, first, last);
  };
  const shared = { buckets, hrefOf, onZoom: (span: Span) => go(hrefOf(span)) };
  return (
    <>
      <Chart
        {...shared}
        title="Mean score by day (UTC)"
        kind="line"
        unit="number"
        isSum={false}
        series={[{ key: 'mean', label: 'Mean', color: 'series-1', values: daily.map(({ mean }) => mean) }]}
      />
      <Chart
        {...shared}
        title="Scores by day (UTC)"
        kind="bars"
        unit="count"
        isSum
        series={[
          { key: 'count', label: 'Scores', color: 'series-3', values: daily.map(({ count }) => count) },
        ]}
      />
    </>
  );
}
