import { MOST_GROUPS, type Reading } from '#core/alerts/mod.ts';
import type { MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from '../metrics/mod.ts';
import type { AlertDefinition } from './store.ts';

const MINUTE_MS = 60_000;

/** Type of `measure`. */
export type Measure = typeof measure;

/**
 * Measures the query of an alert in the window that ends at a given time: one reading for each group, of MOST_GROUPS that are
 * furthest beyond the threshold, and of the tracked ones. These are asked for by name: a group that others have overtaken is
 * still beyond, and one without requests has a number of requests, 0.
 * @param tx a transaction of the organization that reads one snapshot
 * @param tracked the groups of the previous evaluation
 * @throws AssayError invalid_body, invalid_filter when the query is not valid
 */
export async function measure(
  tx: TransactionSql,
  organizationId: string,
  { query, windowMinutes, comparison }: AlertDefinition,
  endMs: number,
  tracked: readonly Pick<Reading, 'group'>[],
): Promise<Reading[]> {
  const body: MetricsQueryBody = {
    ...query,
    range: { from: endMs - windowMinutes * MINUTE_MS, to: endMs },
    bucket: 'none',
    limit: MOST_GROUPS,
    orderBy: { direction: comparison.startsWith('>') ? 'desc' : 'asc' },
  };
  const { series, total } = await runMetricsQuery(tx, organizationId, body);
  const [label] = query.groupBy ?? [];
  if (label === undefined) return [{ group: {}, value: total.total[0] ?? null }];
  const found = new Set(series.map(({ group }) => group[label]));
  const others = tracked.flatMap(({ group: { [label]: value } }) =>
    value === undefined || found.has(value) ? [] : [[value === null ? null : String(value)]],
  );
  const named =
    others.length === 0 ? [] : (await runMetricsQuery(tx, organizationId, body, 'any', others)).series;
  return [...series, ...named].map((one) => ({ group: one.group, value: one.total[0] ?? null }));
}
