/** Metrics of requests over time, in groups. */
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from './run.ts';

export { runMetricsQuery } from './run.ts';

/** The work behind `/v1/metrics/query`, for one organization at a time. */
export type MetricsService = {
  query(organizationId: string, body: MetricsQueryBody): Promise<MetricsAnswer>;
};

/** @param sql a pool under the role `assay_api` */
export function createMetricsService({ sql }: { sql: Sql }): MetricsService {
  return {
    query: (organizationId, body) =>
      inOrganization(sql, organizationId, (tx) => runMetricsQuery(tx, organizationId, body), {
        isSnapshot: true,
      }),
  };
}
