import { MOST_GROUPS, type Reading } from '#core/alerts/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from '../metrics/mod.ts';
import type { AlertDefinition } from './store.ts';

const MINUTE_MS = 60_000;

/** Measures what an alert watches. */
export type Measure = typeof measure;

/**
 * Measures what an alert watches in the window that ends at a moment: one reading a group, those that lie furthest beyond
 * its threshold first, at most MOST_GROUPS.
 * @param tx a transaction of the organization that reads one moment
 * @throws AssayError invalid_body, invalid_filter when the query is none
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
