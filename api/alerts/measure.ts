import { MOST_GROUPS, type Reading } from '#core/alerts/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from '../metrics/mod.ts';
import type { AlertDefinition } from './store.ts';

const MINUTE_MS = 60_000;

/** Type of `measure`. */
export type Measure = typeof measure;

/**
 * Measures the query of an alert in the window that ends at a given time: one reading for each group, at most MOST_GROUPS,
 * those furthest beyond the threshold first.
 * @param tx a transaction of the organization that reads one snapshot
 * @throws AssayError invalid_body, invalid_filter when the query is not valid
 */
export async function measure(
  tx: TransactionSql,
  organizationId: string,
  { query, windowMinutes, comparison }: AlertDefinition,
  endMs: number,
): Promise<Reading[]> {
  const { series, total } = await runMetricsQuery(tx, organizationId, {
    ...query,
    range: { from: endMs - windowMinutes * MINUTE_MS, to: endMs },
    bucket: 'none',
    limit: MOST_GROUPS,
    orderBy: { direction: comparison.startsWith('>') ? 'desc' : 'asc' },
  });
  const isGrouped = query.groupBy !== undefined && query.groupBy.length > 0;
  if (!isGrouped) return [{ group: {}, value: total.total[0] ?? null }];
  return series.map((one) => ({ group: one.group, value: one.total[0] ?? null }));
}
